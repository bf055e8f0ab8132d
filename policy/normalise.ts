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

const decoder = new TextDecoder('utf-16le');

export class Normaliser {
  readonly #text: string;
  #units: Uint16Array;
  #length = 0;
  #at = 0;
  /** What stands before the next letter: nothing, `seamUnit` or a gap. */
  #gap: number | null = null;

  constructor(text: string) {
    this.#text = text;
    this.#units = new Uint16Array(text.length + 64);
  }

  get ended(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Reads at least `count` code units more, if there are as many. */
  read(count: number): void {
    const end = Math.min(this.#text.length, this.#at + count);
    while (this.#at < end) {
      const codePoint = this.#text.codePointAt(this.#at) ?? 0;
      this.#at += codePoint > 0xffff ? 2 : 1;
      const folded = foldedPoint(codePoint);
      if (codePoint === seamUnit) this.#gap ??= seamUnit;
      else if (folded === unit.several) {
        const units = foldedText(codePoint);
        for (let part = 0; part < units.length; part++) this.#write(units.charCodeAt(part));
      } else if (folded === unit.surrogate) this.#write(unit.gap);
      else if (folded !== unit.dropped) this.#write(folded);
    }
  }

  /** What was read so far. */
  get normalised(): string {
    return decoder.decode(this.#units.subarray(0, this.#length));
  }

  #write(folded: number): void {
    if (folded === unit.gap) {
      this.#gap = unit.gap;
      return;
    }
    // One letter may become eighteen.
    if (this.#length + 2 > this.#units.length) this.#grow();
    if (this.#gap !== null && this.#length > 0) this.#units[this.#length++] = this.#gap;
    this.#gap = null;
    this.#units[this.#length++] = folded;
  }

  #grow(): void {
    const larger = new Uint16Array(this.#units.length * 2);
    larger.set(this.#units.subarray(0, this.#length));
    this.#units = larger;
  }
}

/** The whole of a text at once. */
export function normalise(text: string): string {
  const normaliser = new Normaliser(text);
  normaliser.read(text.length);
  return normaliser.normalised;
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
