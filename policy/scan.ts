/**
 * Scans a text once for the phrases of rules, as whole words.
 *
 * Invariant: the result does not depend on the pieces in which the text is read.
 */
import { elementAt } from '@gw/contract/internal/defined';
import { type Automaton, type Ending, representative } from './automaton.ts';
import { foldedPoint, foldedText, isUnspaced, unit } from './fold.ts';
import { seam } from './normalise.ts';

/** Letters for which word starts are remembered, a power of two and the longest phrase. */
const remembered = 4096;
export const longestPhrase = remembered;
const seamUnit = seam.charCodeAt(0);
const longestGap = 64;
/**
 * Matches the gap after a sentence, or after a text of the request. A full stop or colon within a word (`bomb.png`) does not count, nor
 * does a single line break, which may be anywhere.
 */
const sentenceEnd = /[\0?!;…。？！；｡．)\]}<\\]|[.:].|\n\s*\n|"\s*[,:]/su;

export class Scan {
  readonly #automaton: Automaton;
  readonly #text: string;
  /** 1 at the index of each rule that was found. */
  readonly #found: Uint8Array;
  readonly #wordStarts = new Uint8Array(remembered);
  #state = 0;
  #letters = 0;
  #afterGap = 1;
  #at = 0;

  constructor(automaton: Automaton, text: string, found: Uint8Array) {
    this.#automaton = automaton;
    this.#text = text;
    this.#found = found;
  }

  get ended(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Letters read so far. */
  get letters(): number {
    return this.#letters;
  }

  /** Reads at least `count` further code units, if there are as many. */
  read(count: number): void {
    const { classes, next } = this.#automaton;
    const text = this.#text;
    const end = Math.min(text.length, this.#at + count);
    const wordStarts = this.#wordStarts;
    let state = this.#state;
    let letters = this.#letters;
    let afterGap = this.#afterGap;
    let at = this.#at;
    while (at < end) {
      const folded = foldedPoint(text.charCodeAt(at));
      if (folded > unit.gap) {
        state = next[state + (classes[folded] ?? 0)] ?? 0;
        wordStarts[letters & (remembered - 1)] = afterGap;
        letters++;
        afterGap = isUnspaced(folded) ? 1 : 0;
        at++;
        if (next[state] !== 0) this.#note(next[state] ?? 0, letters, at);
      } else if (folded === unit.gap) {
        afterGap = 1;
        at++;
      } else if (folded === unit.dropped) at++;
      else {
        const codePoint = text.codePointAt(at) ?? 0;
        const units = foldedText(codePoint);
        at += codePoint > 0xffff ? 2 : 1;
        for (let part = 0; part < units.length; part++) {
          const one = units.charCodeAt(part);
          if (one === unit.gap) {
            afterGap = 1;
            continue;
          }
          state = next[state + (classes[one] ?? 0)] ?? 0;
          wordStarts[letters & (remembered - 1)] = afterGap;
          letters++;
          afterGap = isUnspaced(one) ? 1 : 0;
          if (next[state] !== 0) this.#note(next[state] ?? 0, letters, part < units.length - 1 ? -1 : at);
        }
      }
    }
    this.#state = state;
    this.#letters = letters;
    this.#afterGap = afterGap;
    this.#at = at;
  }

  /** `after` is the next position, or -1 within a character that becomes several letters, where no word can end. */
  #note(place: number, letters: number, after: number): void {
    for (const ending of elementAt(this.#automaton.endings, place))
      if (this.#found[ending.rule] !== 1 && this.#isWhole(ending, letters, after)) this.#found[ending.rule] = 1;
  }

  #isWhole(ending: Ending, letters: number, after: number): boolean {
    if (!ending.anyStart && this.#wordStarts[(letters - ending.length) & (remembered - 1)] === 0) return false;
    if (!ending.anyEnd && (after === -1 || !this.#isWordEnd(after))) return false;
    const { before, unless } = ending.goingOn;
    if (after === -1 || (before === null && unless.length === 0)) return before === null;
    if (this.#isSentenceEnd(after)) return true;
    return !this.#goesOn(unless, after, false) && (before === null || this.#goesOn(before, after, true));
  }

  /** Whether the text or the sentence ends before the next letter. A long gap is an end. */
  #isSentenceEnd(from: number): boolean {
    const text = this.#text;
    const last = Math.min(text.length, from + longestGap);
    for (let at = from; at < last; ) {
      const codePoint = text.codePointAt(at) ?? 0;
      const folded = foldedPoint(codePoint);
      if (folded > unit.gap || folded === unit.several) return sentenceEnd.test(text.slice(from, at));
      at += codePoint > 0xffff ? 2 : 1;
    }
    return true;
  }

  /** Whether one of `tails` follows at `from` and ends with a word. `overSeams`: it may continue in the next text. */
  #goesOn(tails: readonly string[], from: number, overSeams: boolean): boolean {
    const text = this.#text;
    let read = '';
    let left = tails;
    for (let at = from; at < text.length && left.length > 0; ) {
      const codePoint = text.codePointAt(at) ?? 0;
      if (codePoint === seamUnit && !overSeams) return false;
      at += codePoint > 0xffff ? 2 : 1;
      const folded = foldedPoint(codePoint);
      if (folded <= unit.gap && folded !== unit.several) continue;
      for (const letter of foldedText(codePoint))
        if (letter !== ' ') read += String.fromCharCode(representative(letter.charCodeAt(0)));
      if (left.includes(read) && this.#isWordEnd(at)) return true;
      left = left.filter((tail) => tail.startsWith(read));
    }
    return false;
  }

  /** Whether no letter of the same word follows at `from`, ignoring invisible characters. */
  #isWordEnd(from: number): boolean {
    const text = this.#text;
    for (let at = from; at < text.length; ) {
      const codePoint = text.codePointAt(at) ?? 0;
      const folded = foldedPoint(codePoint);
      const first = folded === unit.several ? foldedText(codePoint).charCodeAt(0) : folded;
      if (first !== unit.dropped) return first <= unit.gap || isUnspaced(first);
      at += codePoint > 0xffff ? 2 : 1;
    }
    return true;
  }
}
