/**
 * Cuts a text into the pieces of a vocabulary, as its pattern does to the whole text at once.
 *
 * Invariants: the pattern sees `windowChars` at a time, since on a longer run of marks its own stack overflows; and a
 * piece is given whole, unless it is longer than that: then it comes in parts, which are marked.
 */

/** Characters of a window: more than `longestPiece` of count-tokens.ts, so that what is merged is whole. */
export const windowChars = 72 * 1024;
/** Characters that a pattern may have to see after a piece: a contraction, and half of a surrogate pair. */
const seenBehind = 8;

export interface Piece {
  readonly text: string;
  /** True if it is a part of a piece that is longer than a window. */
  readonly isPart: boolean;
}

/** Returns where a piece can end, whatever follows the window: not within spaces, which can go on. */
function certainEnd(window: string): number {
  let end = window.length - seenBehind;
  while (end > 0 && /\s/.test(window[end - 1] as string)) end--;
  return end;
}

/** Yields the pieces in their order. What the pattern does not match is left out. */
export function* textPieces(text: string, pattern: RegExp): Generator<Piece> {
  let isPart = false;
  for (let from = 0; from < text.length; ) {
    const window = text.slice(from, from + windowChars);
    const isLast = from + window.length === text.length;
    const certain = isLast ? window.length : certainEnd(window);
    let at = 0;
    for (const match of window.matchAll(pattern)) {
      const end = match.index + match[0].length;
      const isCut = end > certain;
      // It is read again, from its beginning.
      if (isCut && at > 0) break;
      yield { text: match[0], isPart: isPart || isCut };
      isPart = isCut;
      at = end;
    }
    from += at === 0 ? window.length : at;
  }
}
