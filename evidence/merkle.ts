/**
 * Merkle trees of RFC 6962 (section 2). A log of receipts is such a tree, so anybody can check that a receipt is in it and that entries were
 * only ever appended.
 *
 * Invariant: pure. Hashes are 64 hexadecimal digits. A check returns false for anything that is wrong, and never throws.
 */
import { elementAt } from '@gw/contract/internal/defined';
import { bytesOfHex, Sha256 } from '#sha256';

/** Returns SHA-256 over 0x00 and the UTF-8 bytes of the entry. */
export const leafHash = (entry: string): string => new Sha256().update('\0').update(entry).hex();

export const pairHash = (left: string, right: string): string =>
  new Sha256().update('\x01').update(bytesOfHex(left)).update(bytesOfHex(right)).hex();

/** The root of a log without entries. */
export const emptyRoot = new Sha256().hex();

/** The entries from `begin` to before `end`. */
export interface Span {
  readonly begin: number;
  readonly end: number;
}

/** The root of a complete subtree, which has 2^level entries from index · 2^level on. Leaves have level 0. */
export interface TreeNode {
  readonly level: number;
  readonly index: number;
}

/** The stored levels are multiples of this number: one node for 16 leaves, one for 256, and so on. */
export const storedEvery = 4;

/** Returns the largest power of two below `size`, where RFC 6962 splits a list. `size` is at least 2. */
function splitOf(size: number): number {
  let half = 1;
  while (half * 2 < size) half *= 2;
  return half;
}

/** Returns log2 of a power of two. */
const levelOf = (size: number): number => Math.round(Math.log2(size));
const isPowerOfTwo = (size: number): boolean => size > 0 && 2 ** levelOf(size) === size;

/** Returns the stored nodes that the hash of a span of a log follows from. */
export function nodesOf({ begin, end }: Span): TreeNode[] {
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

/** Returns the hash of a span that begins where a subtree does. `hashAt` must know all nodes that `nodesOf` returns for it. */
export function spanHash({ begin, end }: Span, hashAt: (node: TreeNode) => string): string {
  const size = end - begin;
  if (size <= 0) return emptyRoot;
  const level = levelOf(size);
  if (isPowerOfTwo(size) && level % storedEvery === 0) return hashAt({ level, index: begin / size });
  const middle = begin + splitOf(size);
  return pairHash(spanHash({ begin, end: middle }, hashAt), spanHash({ begin: middle, end }, hashAt));
}

/** Returns the spans whose hashes prove that the entry at `index` is in the log of the first `size` entries, from the leaf up. */
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

/** Returns the spans whose hashes prove that the log of the first `to` entries begins with that of the first `from` (1 ≤ from ≤ to). */
export function consistencySpans(from: number, to: number): Span[] {
  const spans: Span[] = [];
  let [begin, end] = [0, to];
  // Go down to the subtree that ends where the earlier log did.
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
  // If that subtree is the whole earlier log, its root is known; otherwise its hash belongs to the proof.
  if (begin > 0) spans.push({ begin, end });
  return spans.reverse();
}

export const isHash = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
const isPath = (path: unknown): path is string[] => Array.isArray(path) && path.length <= 64 && path.every(isHash);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

interface StatedPlace {
  readonly index: unknown;
  readonly size: unknown;
  readonly path: unknown;
}

/** The root that the path leads to from a leaf (RFC 9162, 2.1.3.2); null: to none. */
export function rootFrom(leaf: string, { index, path, size }: StatedPlace): string | null {
  if (!isHash(leaf) || !isCount(index) || !isCount(size) || index >= size || !isPath(path)) return null;
  const spans = inclusionSpans(index, size);
  if (spans.length !== path.length) return null;
  return spans.reduce((hash, { begin }, at) => {
    const sibling = elementAt(path, at);
    return begin > index ? pairHash(hash, sibling) : pairHash(sibling, hash);
  }, leaf);
}

/** Whether the path leads from a leaf to the root. */
export const isIncluded = (leaf: string, { root, ...place }: StatedPlace & { readonly root: unknown }): boolean =>
  rootFrom(leaf, place) === root && isHash(root);

/** Whether the path shows that one log continues the other (RFC 9162, 2.1.4.2). Any log continues an empty one. */
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
  const [first, rest] = isWhole ? [String(earlier.root), 0] : [elementAt(path, 0), 1];
  let [old, all] = [first, first];
  for (const [at, { begin }] of spans.entries()) {
    if (at < rest) continue;
    const sibling = elementAt(path, at);
    if (begin < from) [old, all] = [pairHash(sibling, old), pairHash(sibling, all)];
    else all = pairHash(all, sibling);
  }
  return old === earlier.root && all === later.root;
}

/** Returns the stored nodes above the leaves, level by level, that became complete with the entries from `before` to `size`. */
export function completedNodes(before: number, size: number): TreeNode[][] {
  const levels: TreeNode[][] = [];
  for (let level = storedEvery; 2 ** level <= size; level += storedEvery) {
    const width = 2 ** level;
    const [first, last] = [Math.floor(before / width), Math.floor(size / width)];
    levels.push(Array.from({ length: last - first }, (_, at) => ({ level, index: first + at })));
  }
  return levels;
}

/** Returns the nodes of the stored level below that a stored node follows from. */
export const childrenOf = ({ index, level }: TreeNode): TreeNode[] =>
  Array.from({ length: 2 ** storedEvery }, (_, at) => ({
    level: level - storedEvery,
    index: index * 2 ** storedEvery + at,
  }));

/** Returns the hash of 16 nodes of one level, joined pair by pair. */
export function joined(hashes: readonly string[]): string {
  if (hashes.length === 1) return elementAt(hashes, 0);
  const half = hashes.length / 2;
  return pairHash(joined(hashes.slice(0, half)), joined(hashes.slice(half)));
}
