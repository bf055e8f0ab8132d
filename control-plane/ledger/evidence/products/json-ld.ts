/** A signed pack. */
import { setImmediate } from 'node:timers/promises';
import { LongPack, sections } from '@gw/evidence/long-pack';
import { newestCheckpoint } from '../../log/tree.ts';
import { logOf } from '../log-proofs.ts';
import { packedOf } from '../make-pack.ts';
import { selectReceipts } from '../select.ts';
import type { Product, ProductOrder, ProductStores } from './product.ts';

/** Receipts that are written at once, in a few milliseconds; then others have their turn. */
const pieceSize = 25;

export async function jsonLdProduct(stores: ProductStores, { about, pack, writer }: ProductOrder): Promise<Product> {
  const { asked } = pack.request;
  const { accountId } = about;
  // Before the receipts: whatever it counts was stored by then.
  const checkpoint = await newestCheckpoint(stores.db, accountId);
  const { earlier_tree_size: earlierSize = null, include_lineage: withLineage } = asked;
  const log = await logOf(stores.db, accountId, { checkpoint, earlierSize });
  const text = new LongPack({ ...about, log }, (section, piece) => writer.write(sections.indexOf(section), piece));
  return {
    take: async (window) => {
      const selected = await selectReceipts(stores, accountId, window);
      const choice = { selected, checkpoint, earlierSize: null, withLineage };
      const found = await packedOf(stores, { about: { ...about, period: window.period }, ...choice });
      if (found.log?.fault !== undefined)
        stores.log.error({ pack: pack.id, fault: found.log.fault }, 'an evidence pack lacks proofs');
      for (const [at, each] of found.receipts.entries()) {
        if (at % pieceSize === 0) await setImmediate();
        text.add(each);
      }
      for (const each of found.excluded) text.exclude(each);
      return found.receipts.length;
    },
    finish: async () => {
      await text.finish(stores.key);
      return null;
    },
  };
}
