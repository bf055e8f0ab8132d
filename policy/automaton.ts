/**
 * Finds many phrases in one pass (Aho and Corasick, 1975), ignoring gaps between their letters.
 *
 * Invariants: each letter of the text costs one step of the table, regardless of the number of phrases. At most `maxNested` phrases end
 * in one state, which limits the cost of a match. Gaps are not letters: `n-e r.v e` is `nerve`. A digit also counts as the letter that it
 * looks like (`0` and `o`), but letters are never confused: an LED is not an IED.
 */
import { err, ok, type Result } from '@gw/contract/internal/result';
import { isUnspaced } from './fold.ts';

export interface Phrase {
  /** Folded, without gaps. */
  readonly letters: string;
  /** Index of the rule that the phrase belongs to. */
  readonly rule: number;
  readonly goingOn: GoingOn;
}

/** Conditions on the text after a phrase, in letters as `alike` reads them. */
export interface GoingOn {
  /** The phrase does not count if the sentence continues with one of these. */
  readonly unless: readonly string[];
  /** If not null, the phrase does not count if the sentence continues with anything else. */
  readonly before: readonly string[] | null;
}

export interface Ending {
  readonly rule: number;
  readonly length: number;
  readonly anyStart: boolean;
  readonly anyEnd: boolean;
  readonly goingOn: GoingOn;
}

/**
 * `classes` maps a folded code unit to a column, and `next` maps state + column to a state, which is the offset of its row.
 * `next[state]` is the index in `endings` of the phrases that end there, or 0.
 */
export interface Automaton {
  readonly classes: Uint16Array;
  readonly next: Int32Array;
  readonly endings: readonly (readonly Ending[])[];
}

export const maxNested = 16;
/** 4 bytes each. */
const maxCells = 8_000_000;
/** Column 0 is for endings, this one for letters in no phrase. */
const otherColumn = 1;
const firstColumn = 2;

/** Digits that count as one letter. A 1 is an i or an l, whichever continues a phrase. */
const lettersOfDigits = new Map(['0o', '3e', '4a', '5s', '7t'].map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)]));
const [one, letterI, letterL] = [0x31, 0x69, 0x6c];

/** Returns the letter that represents all look-alikes, such as 1, i and l, in the text after a phrase. */
export const representative = (unit: number): number =>
  unit === one || unit === letterL ? letterI : (lettersOfDigits.get(unit) ?? unit);

function columnsOf(phrases: readonly Phrase[]): { readonly classes: Uint16Array; readonly width: number } {
  const classes = new Uint16Array(0x10000).fill(otherColumn);
  let width = firstColumn;
  for (const { letters } of phrases)
    for (let at = 0; at < letters.length; at++) {
      const own = letters.charCodeAt(at);
      const unit = lettersOfDigits.get(own) ?? own;
      if (classes[unit] === otherColumn) classes[unit] = width++;
    }
  for (const [digit, letter] of lettersOfDigits) classes[digit] = classes[letter] ?? otherColumn;
  if (classes[one] === otherColumn) classes[one] = width++;
  return { classes, width };
}

/** Returns the automaton, or why it would be too large. */
export function buildAutomaton(phrases: readonly Phrase[]): Result<Automaton, string> {
  const { classes, width } = columnsOf(phrases);
  const letters = phrases.reduce((sum, phrase) => sum + phrase.letters.length, 0);
  if ((letters + 1) * width > maxCells) return err('the phrases of all rules together are too long');
  const next = new Int32Array((letters + 1) * width);
  const ends = new Map<number, Ending[]>();
  let rows = 1;
  for (const { letters: word, rule, goingOn } of phrases) {
    let state = 0;
    for (let at = 0; at < word.length; at++) {
      const cell = state + (classes[word.charCodeAt(at)] ?? otherColumn);
      if (next[cell] === 0) next[cell] = rows++ * width;
      state = next[cell] ?? 0;
    }
    const known = ends.get(state) ?? [];
    const anyStart = isUnspaced(word.charCodeAt(0));
    const anyEnd = isUnspaced(word.charCodeAt(word.length - 1));
    if (!known.some((ending) => ending.rule === rule))
      ends.set(state, [...known, { rule, length: word.length, anyStart, anyEnd, goingOn }]);
  }
  return link(next.slice(0, rows * width), classes, width, ends);
}

/** Completes the tree of phrases: where a phrase fails to match, its longest suffix that begins another phrase continues. */
function link(
  next: Int32Array,
  classes: Uint16Array,
  width: number,
  ends: Map<number, Ending[]>,
): Result<Automaton, string> {
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
      if (found.length > maxNested) return err(`more than ${maxNested} phrases end with one another`);
      next[state] = endings.push(found) - 1;
    } else next[state] = inherited;
    const asOne = [one, letterI, letterL].map((letter) => next[state + (classes[letter] ?? 0)] ?? 0).find(Boolean);
    for (let column = otherColumn; column < width; column++) {
      const child = next[state + column] ?? 0;
      const other = state === 0 ? 0 : (next[fall + column] ?? 0);
      if (child === 0) next[state + column] = other;
      else {
        fallback[child / width] = other;
        queue.push(child);
      }
    }
    // After the letters, so that a state reached by a digit and a letter is queued only once.
    if (asOne) next[state + (classes[one] ?? 0)] = asOne;
  }
  return ok({ classes, next, endings });
}
