/**
 * Merkle trees of RFC 6962 (section 2): what a log of receipts is, and how anybody checks that a receipt is in it and that it
 * was only ever appended to.
 *
 * Invariant: pure. Hashes are 64 hexadecimal digits. A check gives false for anything that is not right, and never throws.
 */
import { bytesOfHex, Sha256 } from '#sha256';

/** SHA-256 over 0x00 and the bytes of the entry (UTF-8). */
export const leafHash = (entry: string): string => new Sha256().update('\0').update(entry).hex();

const pairHash = (left: string, right: string): string =>
  new Sha256().update('\x01').update(bytesOfHex(left)).update(bytesOfHex(right)).hex();

/** Of a log without entries. */
export const emptyRoot = new Sha256().hex();

/** Entries from `begin` to before `end`. */
export interface Span {
  readonly begin: number;
  readonly end: number;
}

/** A complete subtree: 2^level entries from index · 2^level on. Level 0 are the leaves. */
export interface Place {
  readonly level: number;
  readonly index: number;
}

/** The levels that are stored are multiples of it: one node for 16 leaves, one for 256, and so on. */
export const storedEvery = 4;

/** The largest power of two below `size`, which is at least 2: where RFC 6962 splits a list. */
function splitOf(size: number): number {
  let half = 1;
  while (half * 2 < size) half *= 2;
  return half;
}

/** Log2 of a power of two. */
const levelOf = (size: number): number => Math.round(Math.log2(size));
const isPowerOfTwo = (size: number): boolean => size > 0 && 2 ** levelOf(size) === size;

/** The stored nodes that the hash of a span of a log follows from. */
export function nodesOf({ begin, end }: Span): Place[] {
  const size = end - begin;
  if (size <= 0) return [];
  if (isPowerOfTwo(size)) {
    const level = levelOf(size) - (levelOf(size) % storedEvery);
    const width = 2 ** level;
    return Array.from({ length: size / width }, (_, at) => ({ level, index: begin / width + at }));
  }
  const middle = begin + splitOf(size);
  return [...nodesOf({ begin, end: middle }), ...nodesOf({ begin: middle, end })];
}

/** The hash of a span, whose beginning is that of a subtree. `hashAt` has to know all of `nodesOf` it. */
export function spanHash({ begin, end }: Span, hashAt: (place: Place) => string): string {
  const size = end - begin;
  if (size <= 0) return emptyRoot;
  const level = levelOf(size);
  if (isPowerOfTwo(size) && level % storedEvery === 0) return hashAt({ level, index: begin / size });
  const middle = begin + splitOf(size);
  return pairHash(spanHash({ begin, end: middle }, hashAt), spanHash({ begin: middle, end }, hashAt));
}

/** The spans whose hashes prove that the entry at `index` is in the log of the first `size` entries, from the leaf up. */
export function inclusionSpans(index: number, size: number): Span[] {
  const spans: Span[] = [];
  let [begin, end] = [0, size];
  while (end - begin > 1) {
    const middle = begin + splitOf(end - begin);
    if (index < middle) {
      spans.push({ begin: middle, end });
      end = middle;
    } else {
      spans.push({ begin, end: middle });
      begin = middle;
    }
  }
  return spans.reverse();
}

/** The spans whose hashes prove that the log of the first `to` entries begins with that of the first `from` (1 ≤ from ≤ to). */
export function consistencySpans(from: number, to: number): Span[] {
  const spans: Span[] = [];
  let [begin, end] = [0, to];
  // Down to the subtree that ends where the earlier log did.
  while (end !== from) {
    const middle = begin + splitOf(end - begin);
    if (from <= middle) {
      spans.push({ begin: middle, end });
      end = middle;
    } else {
      spans.push({ begin, end: middle });
      begin = middle;
    }
  }
  // That subtree is the whole earlier log, whose root is known, or has to be given.
  if (begin > 0) spans.push({ begin, end });
  return spans.reverse();
}

export const isHash = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
const isPath = (path: unknown): path is string[] => Array.isArray(path) && path.length <= 64 && path.every(isHash);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** Whether the path leads from a leaf to the root (RFC 9162, 2.1.3.2). */
export function isIncluded(
  leaf: string,
  {
    index,
    path,
    root,
    size,
  }: { readonly index: unknown; readonly size: unknown; readonly path: unknown; readonly root: unknown },
): boolean {
  if (!isHash(leaf) || !isCount(index) || !isCount(size) || index >= size || !isPath(path)) return false;
  const spans = inclusionSpans(index, size);
  if (spans.length !== path.length) return false;
  const found = spans.reduce((hash, { begin }, at) => {
    const sibling = path[at] ?? '';
    return begin > index ? pairHash(hash, sibling) : pairHash(sibling, hash);
  }, leaf);
  return found === root;
}

/** Whether the path shows that one log goes on from the other (RFC 9162, 2.1.4.2). An empty log goes on as any. */
export function isConsistent(
  earlier: { readonly size: unknown; readonly root: unknown },
  later: { readonly size: unknown; readonly root: unknown },
  path: unknown,
): boolean {
  const [from, to] = [earlier.size, later.size];
  if (!isCount(from) || !isCount(to) || from > to || !isPath(path)) return false;
  if (from === to) return path.length === 0 && earlier.root === later.root && isHash(later.root);
  if (from === 0) return path.length === 0 && earlier.root === emptyRoot;
  const spans = consistencySpans(from, to);
  if (spans.length !== path.length) return false;
  const isWhole = spans[0]?.end !== from;
  if (isWhole && !isHash(earlier.root)) return false;
  const [first, rest] = isWhole ? [String(earlier.root), 0] : [path[0] ?? '', 1];
  let [old, all] = [first, first];
  for (const [at, { begin }] of spans.entries()) {
    if (at < rest) continue;
    const sibling = path[at] ?? '';
    if (begin < from) [old, all] = [pairHash(sibling, old), pairHash(sibling, all)];
    else all = pairHash(all, sibling);
  }
  return old === earlier.root && all === later.root;
}

/** The nodes of stored levels, but the leaves, that are complete with the entries up to `size` and were not before, level by level. */
export function completedNodes(before: number, size: number): Place[][] {
  const levels: Place[][] = [];
  for (let level = storedEvery; 2 ** level <= size; level += storedEvery) {
    const width = 2 ** level;
    const [first, last] = [Math.floor(before / width), Math.floor(size / width)];
    levels.push(Array.from({ length: last - first }, (_, at) => ({ level, index: first + at })));
  }
  return levels;
}

/** The nodes of the level below that a stored node follows from. */
export const childrenOf = ({ index, level }: Place): Place[] =>
  Array.from({ length: 2 ** storedEvery }, (_, at) => ({
    level: level - storedEvery,
    index: index * 2 ** storedEvery + at,
  }));

/** The hash of 16 nodes of one level: of 2, 4, 8 and 16 of them, pair by pair. */
export function joined(hashes: readonly string[]): string {
  const [first = ''] = hashes;
  if (hashes.length === 1) return first;
  const half = hashes.length / 2;
  return pairHash(joined(hashes.slice(0, half)), joined(hashes.slice(half)));
}
