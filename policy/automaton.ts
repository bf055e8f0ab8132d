/**
 * Finds many phrases in one pass (Aho and Corasick, 1975), whatever stands between their letters.
 *
 * Invariants: one step of the table for each letter of the text, however many phrases there are; no state ends more than
 * `maxNested` phrases, so that a found letter costs no more either. Gaps are no letters: `n-e r.v e` is `nerve`. Letters
 * and digits that are taken for each other (`0` and `o`, `1`, `l` and `i`) are one letter here.
 */
import { isUnspaced } from './fold.ts';

export interface Phrase {
  /** Folded, without gaps. */
  readonly letters: string;
  /** What is found when it is found: the place of a rule. */
  readonly rule: number;
  /** Whether it is found inside of words, too. */
  readonly anywhere: boolean;
  /** Letters after it with which it does not count. */
  readonly tails: readonly string[];
}

export interface Ending {
  readonly rule: number;
  readonly length: number;
  readonly anyStart: boolean;
  readonly anyEnd: boolean;
  readonly tails: readonly string[];
}

/**
 * `classes`: folded code unit → column. `next`: state + column → state, where a state is the place of its row.
 * `next[state]` is the place in `endings` of what ends there, or 0.
 */
export interface Automaton {
  readonly classes: Uint16Array;
  readonly next: Int32Array;
  readonly endings: readonly (readonly Ending[])[];
}

export type Built =
  | { readonly ok: true; readonly automaton: Automaton }
  | { readonly ok: false; readonly reason: string };

export const maxNested = 16;
/** 4 bytes each. */
const maxCells = 8_000_000;
/** The columns before the first letter: of endings, and of letters that are in no phrase. */
const otherColumn = 1;
const firstColumn = 2;

/** Each is read as the last one. */
const alike = ['0o', '1li', '3e', '4a', '5s', '7t'];
const alikeUnits = new Map(
  alike.flatMap((letters) =>
    [...letters].map((letter) => [letter.charCodeAt(0), letters.charCodeAt(letters.length - 1)]),
  ),
);
/** The one that stands for all that it is taken for. */
export const representative = (unit: number): number => alikeUnits.get(unit) ?? unit;

function columnsOf(phrases: readonly Phrase[]): { readonly classes: Uint16Array; readonly width: number } {
  const classes = new Uint16Array(0x10000).fill(otherColumn);
  let width = firstColumn;
  for (const { letters } of phrases)
    for (let at = 0; at < letters.length; at++) {
      const unit = representative(letters.charCodeAt(at));
      if (classes[unit] === otherColumn) classes[unit] = width++;
    }
  for (const [unit, stand] of alikeUnits) classes[unit] = classes[stand] ?? otherColumn;
  return { classes, width };
}

export function buildAutomaton(phrases: readonly Phrase[]): Built {
  const { classes, width } = columnsOf(phrases);
  const letters = phrases.reduce((sum, phrase) => sum + phrase.letters.length, 0);
  if ((letters + 1) * width > maxCells) return { ok: false, reason: 'the phrases of all rules together are too long' };
  const next = new Int32Array((letters + 1) * width);
  const ends = new Map<number, Ending[]>();
  let rows = 1;
  for (const { letters: word, rule, anywhere, tails } of phrases) {
    let state = 0;
    for (let at = 0; at < word.length; at++) {
      const cell = state + (classes[word.charCodeAt(at)] ?? otherColumn);
      if (next[cell] === 0) next[cell] = rows++ * width;
      state = next[cell] ?? 0;
    }
    const known = ends.get(state) ?? [];
    const anyStart = anywhere || isUnspaced(word.charCodeAt(0));
    const anyEnd = anywhere || isUnspaced(word.charCodeAt(word.length - 1));
    if (!known.some((ending) => ending.rule === rule && ending.anyEnd === anyEnd))
      ends.set(state, [...known, { rule, length: word.length, anyStart, anyEnd, tails }]);
  }
  return link(next.slice(0, rows * width), classes, width, ends);
}

/** Makes the tree of phrases into the table: where a phrase breaks off, its longest end that begins another goes on. */
function link(next: Int32Array, classes: Uint16Array, width: number, ends: Map<number, Ending[]>): Built {
  const fallback = new Int32Array(next.length / width);
  const endings: (readonly Ending[])[] = [[]];
  const queue: number[] = [0];
  for (let head = 0; head < queue.length; head++) {
    const state = queue[head] ?? 0;
    const fall = fallback[state / width] ?? 0;
    const own = ends.get(state);
    const inherited = next[fall] ?? 0;
    if (own) {
      const found = [...own, ...(endings[inherited] ?? [])];
      if (found.length > maxNested) return { ok: false, reason: `more than ${maxNested} phrases end with one another` };
      next[state] = endings.push(found) - 1;
    } else next[state] = inherited;
    for (let column = otherColumn; column < width; column++) {
      const child = next[state + column] ?? 0;
      const other = state === 0 ? 0 : (next[fall + column] ?? 0);
      if (child === 0) next[state + column] = other;
      else {
        fallback[child / width] = other;
        queue.push(child);
      }
    }
  }
  return { ok: true, automaton: { classes, next, endings } };
}
