/**
 * The register of the hours of a log: a Merkle tree with a place for each hour since 1970, which says of each hour which entries of the log are receipts
 * of its calls. A checkpoint signs its root, so a pack can show of a period that no entry is missing.
 *
 * Invariant: pure. The tree is sparse: a part of it without hours has the hash of an empty log, so that its root follows from the hours that there are.
 */
import { canonicalText, sha256Of } from './canonical.ts';
import { emptyRoot, isHash, leafHash, pairHash } from './merkle.ts';

export const hourMs = 3_600_000;
/** As far as the year 3883. */
const hours = 2 ** 24;

/** Entries that follow each other: the index of the first, and how many there are. */
export type EntryRange = readonly [first: number, count: number];

/** An hour as the register has it. */
export interface HourLeaf {
  /** Its begin, RFC 3339. */
  readonly hour: string;
  /** In the order of the log, as few as there can be. */
  readonly ranges: readonly EntryRange[];
  /** Over the times of the calls, in the order of the entries. */
  readonly times_digest: string;
}

/** Something at its place among others of its level. */
export interface Placed {
  readonly place: number;
  readonly hash: string;
}

/** The places from `begin` to before `end`. */
export interface Places {
  readonly begin: number;
  readonly end: number;
}

export const placeOf = (ms: number): number => Math.floor(ms / hourMs);
const within = (place: number): number => Math.min(Math.max(place, 0), hours);

/** The hours that a period touches. */
export const placesOf = (from: number, to: number): Places => ({
  begin: within(placeOf(from)),
  end: within(Math.ceil(to / hourMs)),
});

/** Whether a period, in milliseconds since 1970, begins or ends within the hour. */
export function isCut({ hour }: Pick<HourLeaf, 'hour'>, from: number, to: number): boolean {
  const begin = Date.parse(hour);
  return begin < from || begin + hourMs > to;
}

/** A pack shows the times of the calls of an hour that has no more. */
export const mostTimes = 100_000;
export const entriesIn = (ranges: readonly EntryRange[]): number => ranges.reduce((sum, [, count]) => sum + count, 0);

export const hourHash = ({ hour, ranges, times_digest }: HourLeaf): string =>
  leafHash(canonicalText({ hour, ranges, times_digest }));

export const emptyHour = (place: number): HourLeaf => ({
  hour: new Date(place * hourMs).toISOString(),
  ranges: [],
  times_digest: '0'.repeat(64),
});

/** The digest over the times so far and one more, in milliseconds since 1970. */
export const nextTimes = (digest: string, ms: number): string => sha256Of(`${digest}\n${ms}`);

/** Returns the ranges with an entry that comes behind them. */
function withEntry(ranges: readonly EntryRange[], index: number): readonly EntryRange[] {
  const [first, count] = ranges.at(-1) ?? [0, 0];
  return count > 0 && first + count === index ? [...ranges.slice(0, -1), [first, count + 1]] : [...ranges, [index, 1]];
}

/** The entry of a receipt, and when its call was. */
export interface TimedEntry {
  readonly index: number;
  readonly ms: number;
}

/** Adds entries that come behind those of the hours to the hours that they are of. */
export function enter(entries: readonly TimedEntry[], leaves: Map<number, HourLeaf>): void {
  for (const { index, ms } of entries) {
    const place = placeOf(ms);
    const { hour, ranges, times_digest } = leaves.get(place) ?? emptyHour(place);
    leaves.set(place, { hour, ranges: withEntry(ranges, index), times_digest: nextTimes(times_digest, ms) });
  }
}

const joinedOf = (left: string, right: string): string =>
  left === emptyRoot && right === emptyRoot ? emptyRoot : pairHash(left, right);

/** The hash of `size` places from `begin` on; `size` is a power of two, and `nodes` are those that are there. */
function sparseHash(nodes: readonly Placed[], begin: number, size: number): string {
  const [first] = nodes;
  if (first === undefined) return emptyRoot;
  if (size === 1) return first.hash;
  const middle = begin + size / 2;
  return joinedOf(
    sparseHash(
      nodes.filter(({ place }) => place < middle),
      begin,
      size / 2,
    ),
    sparseHash(
      nodes.filter(({ place }) => place >= middle),
      middle,
      size / 2,
    ),
  );
}

/** As many hours are stored with a hash over them all. */
export const blockSize = 256;
export const blockHash = (block: number, leaves: readonly Placed[]): string =>
  sparseHash(leaves, block * blockSize, blockSize);
/** The root, from the hashes of the blocks. */
export const rootOfBlocks = (blocks: readonly Placed[]): string => sparseHash(blocks, 0, hours / blockSize);

/** Calls `outside` for each part without a place of the range, in their order, and `inside` for each part of it. Returns the root. */
function follow(
  { begin, end }: Places,
  outside: (at: number, size: number) => string,
  inside: (at: number, size: number) => string,
): string {
  const hashOf = (at: number, size: number): string => {
    if (at + size <= begin || at >= end) return outside(at, size);
    if (at >= begin && at + size <= end) return inside(at, size);
    const left = hashOf(at, size / 2);
    return joinedOf(left, hashOf(at + size / 2, size / 2));
  };
  return hashOf(0, hours);
}

const inPart = (nodes: readonly Placed[], at: number, size: number): Placed[] =>
  nodes.filter(({ place }) => place >= at && place < at + size);

/** The first places of the parts beside a range, in the order of its path. */
export function placesBeside(range: Places): number[] {
  const places: number[] = [];
  const outside = (at: number): string => {
    places.push(at);
    return emptyRoot;
  };
  follow(range, outside, () => emptyRoot);
  return places;
}

/** The hashes that the root follows from with the hours of a range. `leaves`: all of the blocks that the range begins and ends in, at least. */
export function pathOfRange(range: Places, leaves: readonly Placed[], blocks: readonly Placed[]): string[] {
  const path: string[] = [];
  const outside = (at: number, size: number): string => {
    const hash =
      size < blockSize
        ? sparseHash(inPart(leaves, at, size), at, size)
        : sparseHash(inPart(blocks, at / blockSize, size / blockSize), at / blockSize, size / blockSize);
    path.push(hash);
    return hash;
  };
  follow(range, outside, () => emptyRoot);
  return path;
}

/** The root that the hours of a range lead to; null: to none. `leaves`: in the order of their places. */
export function rootOfRange(range: Places, leaves: readonly Placed[], path: readonly unknown[]): string | null {
  let used = 0;
  const outside = (): string => String(path[used++]);
  const isPath = path.every(isHash);
  const root = isPath ? follow(range, outside, (at, size) => sparseHash(inPart(leaves, at, size), at, size)) : null;
  return used === path.length ? root : null;
}
