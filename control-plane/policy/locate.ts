/**
 * Where in a text a rule matches, for the eyes of whoever writes rules. The engine says only whether it does: that is all
 * that the hot path needs.
 *
 * Invariant: what is found is never told wrongly: each place matches by itself. A place may be missing when the work for
 * it would be too much.
 */
import { foldedPoint, foldedText, isUnspaced, unit } from '@gw/policy/fold';

export interface Span {
  /** In UTF-16 code units. */
  readonly start: number;
  readonly end: number;
}

/** How many characters may still be looked at; shared by all searches of a request. */
export interface Budget {
  chars: number;
}

/** What a try costs besides its letters, in characters. */
const charsPerTry = 100;
/** More than what a rule spares goes on for: two for each word. */
const spareCuts = 100;

export type Matches = (text: string) => boolean | Promise<boolean>;

/** Up to `most` places, of whole words, from the beginning. */
export async function locate(text: string, matches: Matches, most: number, budget: Budget): Promise<Span[]> {
  const cuts = wordCuts(text);
  const spans: Span[] = [];
  const tryOut = (from: number, to: number): boolean | Promise<boolean> => {
    const slice = text.slice(cuts[from], cuts[to]);
    budget.chars -= slice.length + charsPerTry;
    return budget.chars >= 0 && matches(slice);
  };
  /** What follows may be what a rule spares; further on, another place may begin. */
  const isSpared = async (start: number, end: number): Promise<boolean> => {
    const last = Math.min(end + spareCuts, cuts.length - 1);
    for (let to = end; to <= last; to++) if (!(await tryOut(start, to))) return true;
    return false;
  };
  for (let from = 0; spans.length < most && (await tryOut(from, cuts.length - 1)); ) {
    const to = await firstWhere(from + 1, cuts.length - 1, (at) => tryOut(from, at));
    // The same backwards: the last cut from which it still matches.
    const back = await firstWhere(0, to - from, (step) => tryOut(to - 1 - step, to));
    const start = to - 1 - back;
    if (start < from) break;
    if (!(await isSpared(start, to))) spans.push({ start: cuts[start] ?? 0, end: cuts[to] ?? text.length });
    from = to;
  }
  return spans;
}

/** The least number in [low, high] for which it is true, if it is true from there on; else `high`. */
async function firstWhere(
  low: number,
  high: number,
  isTrue: (at: number) => boolean | Promise<boolean>,
): Promise<number> {
  let [least, most] = [low, high];
  while (least < most) {
    const middle = (least + most) >> 1;
    if (await isTrue(middle)) most = middle;
    else least = middle + 1;
  }
  return most;
}

/** Where a text can be cut without cutting a word, its ends included. What is not seen belongs to the word before it. */
function wordCuts(text: string): number[] {
  const cuts = [0];
  let isInWord = true;
  let at = 0;
  for (const character of text) {
    const seen = firstSeen(character.codePointAt(0) ?? 0);
    if (seen !== null) {
      const isApart = seen === unit.gap || isUnspaced(seen);
      if (at > 0 && (isApart || !isInWord)) cuts.push(at);
      isInWord = !isApart;
    }
    at += character.length;
  }
  cuts.push(text.length);
  return cuts;
}

/** The first code unit that it becomes; null for what is not seen. */
function firstSeen(codePoint: number): number | null {
  const folded = foldedPoint(codePoint);
  if (folded === unit.several) return foldedText(codePoint).charCodeAt(0);
  if (folded === unit.surrogate) return unit.gap;
  return folded === unit.dropped ? null : folded;
}
