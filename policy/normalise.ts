/**
 * Normalises a text for patterns: lower-case letters and digits, with single spaces between words.
 *
 * Invariant: where two texts of a request meet without a gap, there is a NUL instead of a space, so that they can be read as one word or
 * as two.
 */
import { defined } from '@gw/contract/internal/defined';
import { foldedPoint, foldedText, unit } from './fold.ts';

/** Separates the texts of a request, which never contain it. */
export const seam = '\0';
const seamUnit = 0;

/** Code units per read, and the length of the pieces for patterns. */
export const pieceChars = 1 << 12;
/** A code point becomes at most eight letters, and a gap may come before each. */
const room = 9 * (pieceChars + 1);
/** Shared by all texts, because it is only used within one `read`. */
const written = new Uint16Array(room);

export class Normaliser {
  readonly #text: string;
  #at = 0;
  /** Whether it has read a letter. */
  #begun = false;
  /** The gap before the next letter: none, `seamUnit` or a space. */
  #gap: number | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  get ended(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Normalises the next `pieceChars` code units. */
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
        const codePoint = defined(text.codePointAt(at), 'A code point');
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

export function normalise(text: string): string {
  const normaliser = new Normaliser(text);
  let normalised = '';
  while (!normaliser.ended) normalised += normaliser.read();
  return normalised;
}

/** Returns only the letters, to compare phrases. For short texts. */
export const lettersOf = (text: string): string =>
  Array.from(text, (character) => foldedText(defined(character.codePointAt(0), 'A code point')))
    .join('')
    .replaceAll(' ', '');
