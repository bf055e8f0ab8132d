/** Makes a signed pack. */
import { setImmediate } from 'node:timers/promises';
import { PackWriter, sections } from '@gw/evidence/pack-writer';
import { logOf } from '../log-proofs.ts';
import { packedOf } from '../make-pack.ts';
import { selectReceipts } from '../select.ts';
import type { Product, ProductOrder, ProductStores } from './product.ts';

export async function jsonLdProduct(stores: ProductStores, { about, pack, writer }: ProductOrder): Promise<Product> {
  const { asked } = pack.request;
  const { accountId } = about;
  const { earlier_tree_size: earlierSize = null, include_lineage: withLineage, include_routing: withRouting } = asked;
  const log = await logOf(stores.db, about, earlierSize);
  const text = new PackWriter({ ...about, log }, (section, piece) => writer.write(sections.indexOf(section), piece));
  return {
    take: async (window) => {
      const selected = await selectReceipts(stores, accountId, window);
      const choice = { selected, log, withLineage, withRouting };
      const found = await packedOf(stores, { about: { ...about, period: window.period }, ...choice });
      if (found.log?.fault !== undefined)
        stores.log.error({ pack: pack.id, fault: found.log.fault }, 'an evidence pack lacks proofs');
      await text.add(found.receipts, found.excluded, setImmediate);
      return found.receipts.length;
    },
    finish: async () => {
      await text.finish(stores.key);
      return null;
    },
  };
}
