/**
 * A text as the patterns of rules see it: small letters and digits, words apart by one space.
 *
 * Invariant: where two texts of a request meet without a gap of their own, one NUL stands instead of the space, so that
 * they can be read both as one word and as two.
 */
import { foldedPoint, foldedText, unit } from './fold.ts';

/** Between the texts of a request; no text of a request holds it. */
export const seam = '\0';
const seamUnit = 0;

/** Not cleared: what is read of it was written before. */
const unitsFor = (count: number): Uint16Array<ArrayBuffer> =>
  new Uint16Array(Buffer.allocUnsafeSlow(2 * count).buffer as ArrayBuffer, 0, count);

/** Room to begin with, in letters; more is made where it is needed. */
const firstUnits = 1 << 16;

export class Normaliser {
  readonly #text: string;
  #units: Uint16Array<ArrayBuffer>;
  #length = 0;
  #at = 0;
  /** Whether a letter was written, taken ones among them. */
  #begun = false;
  /** What stands before the next letter: nothing, `seamUnit` or a gap. */
  #gap: number | null = null;

  constructor(text: string) {
    this.#text = text;
    this.#units = unitsFor(2 * Math.min(text.length, firstUnits) + 2);
  }

  get ended(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Reads at least `count` code units more, if there are as many. */
  read(count: number): void {
    const text = this.#text;
    const end = Math.min(text.length, this.#at + count);
    let at = this.#at;
    while (at < end) {
      at = this.#readLetters(at, end);
      if (at === end) break;
      const codeUnit = text.charCodeAt(at);
      const folded = foldedPoint(codeUnit);
      if (folded === unit.surrogate) at = this.#readPair(at);
      else {
        if (folded === unit.gap) this.#gap = codeUnit === seamUnit ? (this.#gap ?? seamUnit) : unit.gap;
        else if (folded === unit.several) this.#writeText(foldedText(codeUnit));
        at++;
      }
    }
    this.#at = at;
  }

  /** The usual case: letters that become one, and spaces. Returns where there is something else, or `end`. */
  #readLetters(from: number, end: number): number {
    const text = this.#text;
    // A letter takes two places, with the gap before it.
    while (this.#length + 2 * (end - from) > this.#units.length) this.#grow();
    const units = this.#units;
    let length = this.#length;
    let begun = this.#begun;
    let gap = begun ? this.#gap : null;
    let at = from;
    for (; at < end; at++) {
      const codeUnit = text.charCodeAt(at);
      const folded = foldedPoint(codeUnit);
      if (folded > unit.gap) {
        if (gap !== null) units[length++] = gap;
        gap = null;
        begun = true;
        units[length++] = folded;
      } else if (folded === unit.gap && codeUnit !== seamUnit) gap = begun ? unit.gap : null;
      else if (folded !== unit.dropped) break;
    }
    this.#length = length;
    this.#begun = begun;
    this.#gap = gap;
    return at;
  }

  #readPair(at: number): number {
    const codePoint = this.#text.codePointAt(at) ?? 0;
    const folded = foldedPoint(codePoint);
    if (folded === unit.surrogate || folded === unit.gap) this.#gap = unit.gap;
    else if (folded === unit.several) this.#writeText(foldedText(codePoint));
    else if (folded !== unit.dropped) this.#writeLetter(folded);
    return at + (codePoint > 0xffff ? 2 : 1);
  }

  /** What was read since the last time, so that of a long text only a part has to be held. */
  take(): string {
    const taken = Buffer.from(this.#units.buffer, 0, 2 * this.#length).toString('utf16le');
    this.#length = 0;
    return taken;
  }

  #writeLetter(folded: number): void {
    if (this.#gap !== null) {
      if (this.#begun) this.#units[this.#length++] = this.#gap;
      this.#gap = null;
    }
    this.#begun = true;
    this.#units[this.#length++] = folded;
  }

  #writeText(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const folded = text.charCodeAt(at);
      if (this.#length + 2 > this.#units.length) this.#grow();
      if (folded === unit.gap) this.#gap = unit.gap;
      else this.#writeLetter(folded);
    }
  }

  #grow(): void {
    const larger = unitsFor(this.#units.length * 2);
    larger.set(this.#units.subarray(0, this.#length));
    this.#units = larger;
  }
}

/** The whole of a text at once. */
export function normalise(text: string): string {
  const normaliser = new Normaliser(text);
  normaliser.read(text.length);
  return normaliser.take();
}

/** The letters alone, as phrases are compared. For short texts. */
export function lettersOf(text: string): string {
  let letters = '';
  for (const character of text) {
    const codePoint = character.codePointAt(0) ?? 0;
    const folded = foldedPoint(codePoint);
    if (folded === unit.several) letters += foldedText(codePoint).replaceAll(' ', '');
    else if (folded > unit.gap) letters += String.fromCharCode(folded);
  }
  return letters;
}
