/** Helpers for packs and logs that a test has in memory. */
import {
  blockHash,
  blockSize,
  enter,
  type HourLeaf,
  hourHash,
  isCut,
  type Placed,
  pathOfRange,
  placesOf,
  rootOfBlocks,
} from '@gw/evidence/hours';
import { joined, type Span, spanHash } from '@gw/evidence/merkle';
import type { PackHours } from '@gw/evidence/pack';

/** The bytes of a file with these bytes or this text, or with this value as JSON. */
export async function* bytesOf(content: unknown, size = 65_536): AsyncGenerator<Buffer> {
  const isWritten = typeof content === 'string' || Buffer.isBuffer(content);
  const bytes = Buffer.from(isWritten ? content : JSON.stringify(content));
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Returns a function that gives the hash of any span of a log, from the hashes of all its entries. */
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

/** The register of the hours of a log, from the times of its entries; null: the entry is no receipt. */
export function registerOf(times: readonly (string | null)[]): {
  readonly root: string;
  readonly hours: (period: { readonly from: string; readonly to: string }) => PackHours;
} {
  const entries = times.flatMap((time, index) => (time === null ? [] : [{ index, ms: Date.parse(time) }]));
  const known = new Map<number, HourLeaf>();
  enter(entries, known);
  const leaves = [...known]
    .map(([place, leaf]) => ({ place, leaf, hash: hourHash(leaf) }))
    .toSorted((one, other) => one.place - other.place);
  const blocks: Placed[] = [...new Set(leaves.map(({ place }) => Math.floor(place / blockSize)))].map((block) => ({
    place: block,
    hash: blockHash(
      block,
      leaves.filter(({ place }) => Math.floor(place / blockSize) === block),
    ),
  }));
  return {
    root: rootOfBlocks(blocks),
    hours: ({ from, to }) => {
      const [begin, end] = [Date.parse(from), Date.parse(to)];
      const range = placesOf(begin, end);
      const shown = leaves
        .filter(({ place }) => place >= range.begin && place < range.end)
        .map(({ leaf }) => {
          if (!isCut(leaf, begin, end)) return leaf;
          const own = leaf.ranges.flatMap(([first, count]) =>
            entries.filter(({ index }) => index >= first && index < first + count),
          );
          return { ...leaf, times: own.map(({ ms }) => ms) };
        });
      return { shown, path: pathOfRange(range, leaves, blocks) };
    },
  };
}
