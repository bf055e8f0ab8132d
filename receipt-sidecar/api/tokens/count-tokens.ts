/**
 * Counts the tokens of prompts.
 *
 * Invariant: work grows with the length of the text, hardly more, whatever the text is: pieces are merged over a heap,
 * and a piece too long for that counts for the least that it can be. A count is never above the true one.
 */
import { longestTokenBytes } from '@gw/contract/internal/tokenizers';
import { textPieces } from './text-pieces.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Prompts whose tokens are to be counted. */
export interface CountJob {
  readonly texts: readonly string[];
  /** Whether all texts are one prompt; otherwise each is one. */
  readonly together: boolean;
  /** How many tokens a prompt can have. */
  readonly limit: number;
  /** How many tokens are counted at most. */
  readonly stopAbove: number;
}

export interface Counted {
  /**
   * The first prompt above the limit, or null. `whole` is false if it has at least so many tokens, and perhaps more.
   */
  readonly over: { readonly at: number; readonly tokens: number; readonly whole: boolean } | null;
}

/** Bytes of a piece that is merged; a longer one, which no natural text has, would need too much memory. */
const longestPiece = 64 * 1024;
/** How many pieces between two looks at the clock. */
const piecesPerLook = 4096;

const isAscii = (text: string): boolean => {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
};
const latin1Of = (piece: string): string => (isAscii(piece) ? piece : Buffer.from(piece).toString('latin1'));

interface Sum {
  readonly tokens: number;
  readonly whole: boolean;
}

/** Tokens of `text`, special ones not among them; stops once there are more than `stopAbove`, or when `isLate`. */
function countText(text: string, vocabulary: Vocabulary, stopAbove: number, isLate: () => boolean): Sum | null {
  const { pieces, ranks } = vocabulary;
  let tokens = 0;
  let whole = true;
  let looked = 0;
  for (const piece of textPieces(text, pieces)) {
    const bytes = latin1Of(piece.text);
    if (piece.isPart || bytes.length > longestPiece) {
      tokens += Math.floor(bytes.length / longestTokenBytes);
      whole = false;
    } else tokens += bytes.length === 1 || ranks.has(bytes) ? 1 : countMerged(bytes, ranks);
    if (tokens > stopAbove) return { tokens, whole: false };
    if (++looked % piecesPerLook === 0 && isLate()) return null;
  }
  return { tokens, whole };
}

/**
 * How many tokens a piece is after all merges: always the pair of the lowest rank, of equal ones the first. The heap
 * holds rank and place in one number; an entry whose pair has changed since is passed over.
 */
function countMerged(bytes: string, ranks: Vocabulary['ranks']): number {
  const length = bytes.length;
  const next = new Int32Array(length + 1);
  const before = new Int32Array(length + 1);
  const rankAt = new Int32Array(length + 1);
  const heap: number[] = [];
  const nextOf = (at: number): number => next[at] as number;
  const look = (at: number): void => {
    const end = nextOf(at) < length ? nextOf(nextOf(at)) : length + 1;
    const rank = end <= length && end - at <= longestTokenBytes ? ranks.get(bytes.slice(at, end)) : undefined;
    rankAt[at] = rank ?? -1;
    if (rank !== undefined) push(heap, rank * longestPiece * 2 + at);
  };
  for (let at = 0; at <= length; at++) {
    next[at] = at + 1;
    before[at] = at - 1;
  }
  for (let at = 0; at + 1 < length; at++) look(at);
  let tokens = length;
  while (heap.length > 0) {
    const lowest = pop(heap);
    const at = lowest % (longestPiece * 2);
    if (rankAt[at] !== (lowest - at) / (longestPiece * 2)) continue;
    const gone = nextOf(at);
    next[at] = nextOf(gone);
    before[nextOf(at)] = at;
    rankAt[gone] = -1;
    tokens -= 1;
    look(at);
    const previous = before[at] as number;
    if (previous >= 0) look(previous);
  }
  return tokens;
}

function push(heap: number[], value: number): void {
  let at = heap.length;
  heap.push(value);
  while (at > 0) {
    const above = (at - 1) >> 1;
    if ((heap[above] as number) <= value) break;
    heap[at] = heap[above] as number;
    at = above;
  }
  heap[at] = value;
}

/** Takes the lowest number out of a heap, which must not be empty. */
function pop(heap: number[]): number {
  const top = heap[0] as number;
  const last = heap.pop() as number;
  if (heap.length === 0) return top;
  let at = 0;
  for (let below = 1; below < heap.length; below = 2 * at + 1) {
    if (below + 1 < heap.length && (heap[below + 1] as number) < (heap[below] as number)) below += 1;
    if ((heap[below] as number) >= last) break;
    heap[at] = heap[below] as number;
    at = below;
  }
  heap[at] = last;
  return top;
}

/** Counts until a prompt is above the limit. Returns null if `isLate` became true before the end. */
export function countTokens(job: CountJob, vocabulary: Vocabulary, isLate: () => boolean): Counted | null {
  const { limit, stopAbove, texts, together } = job;
  let sum: Sum = { tokens: 0, whole: true };
  for (const [at, text] of texts.entries()) {
    const counted = countText(text, vocabulary, stopAbove - sum.tokens, isLate);
    if (counted === null || isLate()) return null;
    const tokens = sum.tokens + counted.tokens;
    const whole = sum.whole && counted.whole;
    if (!together && tokens > limit) return { over: { at, tokens, whole } };
    if (!together) continue;
    if (tokens > stopAbove) return { over: { at: 0, tokens, whole } };
    sum = { tokens, whole };
  }
  return sum.tokens > limit ? { over: { at: 0, ...sum } } : { over: null };
}
