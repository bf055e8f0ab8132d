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

/** Code units that are read at once; patterns see a long text in pieces of this length. */
export const pieceChars = 1 << 12;
/** No code point becomes more than eighteen letters, and a gap may stand before them. */
const room = 19 * (pieceChars + 1);
/** Written and made a string within one `read`, so all texts share it. */
const written = new Uint16Array(room);

export class Normaliser {
  readonly #text: string;
  #at = 0;
  /** Whether a letter was read. */
  #begun = false;
  /** What stands before the next letter: nothing, `seamUnit` or a gap. */
  #gap: number | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  get ended(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Reads the next `pieceChars` code units, or those that are left, and returns what they become. */
  read(): string {
    const text = this.#text;
    const end = Math.min(text.length, this.#at + pieceChars);
    let length = 0;
    let begun = this.#begun;
    let gap = this.#gap;
    let at = this.#at;
    while (at < end) {
      const codeUnit = text.charCodeAt(at);
      const folded = foldedPoint(codeUnit);
      if (folded > unit.gap) {
        if (gap !== null) written[length++] = gap;
        gap = null;
        begun = true;
        written[length++] = folded;
        at++;
      } else if (folded === unit.gap) {
        if (begun) gap = codeUnit === seamUnit ? (gap ?? seamUnit) : unit.gap;
        at++;
      } else if (folded === unit.dropped) at++;
      else {
        const codePoint = text.codePointAt(at) ?? 0;
        const units = foldedText(codePoint);
        at += codePoint > 0xffff ? 2 : 1;
        for (let part = 0; part < units.length; part++) {
          const one = units.charCodeAt(part);
          if (one === unit.gap) {
            if (begun) gap = unit.gap;
            continue;
          }
          if (gap !== null) written[length++] = gap;
          gap = null;
          begun = true;
          written[length++] = one;
        }
      }
    }
    this.#begun = begun;
    this.#gap = gap;
    this.#at = at;
    return Buffer.from(written.buffer, 0, 2 * length).toString('utf16le');
  }
}

/** The whole of a text at once. */
export function normalise(text: string): string {
  const normaliser = new Normaliser(text);
  let normalised = '';
  while (!normaliser.ended) normalised += normaliser.read();
  return normalised;
}

/** The letters alone, as phrases are compared. For short texts. */
export const lettersOf = (text: string): string =>
  Array.from(text, (character) => foldedText(character.codePointAt(0) ?? 0).replaceAll(' ', '')).join('');
