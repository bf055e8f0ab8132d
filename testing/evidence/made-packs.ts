/** Packs and logs as the gateway makes them, of what a test has in memory. */
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import { LongPack, type Section, sections } from '@gw/evidence/long-pack';
import { joined, type Span, spanHash } from '@gw/evidence/merkle';
import type { PackContents } from '@gw/evidence/pack';

/** A pack as a job builds it. `receipts`: by time, id and version. */
export async function longPackText(contents: PackContents, key: SigningKey): Promise<string> {
  const texts = new Map<Section, string[]>(sections.map((section) => [section, []]));
  const pack = new LongPack(contents, (section, text) => texts.get(section)?.push(text));
  for (const each of contents.receipts) pack.add(each);
  for (const each of contents.excluded) pack.exclude(each);
  await pack.finish(key);
  return [...texts.values()].flat().join('');
}

/** The hash of any span of a log, by the hashes of all its entries. */
export function spanHashOf(leaves: readonly string[]): (span: Span) => string {
  const known = new Map<string, string>();
  return (span) =>
    spanHash(span, ({ index, level }) => {
      const place = `${level}:${index}`;
      const hash = known.get(place) ?? joined(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level));
      known.set(place, hash);
      return hash;
    });
}
