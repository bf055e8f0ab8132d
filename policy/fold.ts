/**
 * What a code point counts as in screening: letters and digits in one form, nothing at all, or a gap between words.
 *
 * Invariants: the form depends on the code point alone, so a text can be taken in any pieces; folding a folded text
 * changes nothing. It is coarser than NFKC with case folding: what NFKC makes equal is equal here. Marks over letters
 * go with what no reader sees, so accents make no difference, and each letter that looks like a Latin one becomes it.
 */
import { latinShapes } from './lookalikes.ts';

/** Marks that lie on letters, and what has no width or no shape: zero-width, soft hyphen, variation selectors, tags. */
const invisible = /[\p{Mn}\p{Me}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
const wordPart = /[\p{L}\p{N}\p{Mc}]/u;

/** Letters in circles and squares that no normal form undoes, and the letters that flags are made of: first, last. */
const framedLetters: readonly (readonly [number, number])[] = [
  [0x1f150, 0x1f169],
  [0x1f170, 0x1f189],
  [0x1f1e6, 0x1f1ff],
];

const codeOfA = 0x61;

function framed(codePoint: number): string | null {
  const range = framedLetters.find(([first, last]) => codePoint >= first && codePoint <= last);
  return range ? String.fromCharCode(codeOfA + codePoint - range[0]) : null;
}

/** A letter by its shape first, since it may look Latin in one case alone. */
const shaped = (letter: string): string => (latinShapes.get(letter) ?? letter).toLowerCase();

/**
 * Returns what a code point becomes: small letters and digits, a space for a gap, or nothing if it is invisible. A few code
 * points become several letters. NFKD is that of UAX 15; the shapes are in lookalikes.ts.
 */
export function foldCodePoint(codePoint: number): string {
  const letter = framed(codePoint);
  if (letter !== null) return letter;
  const text = String.fromCodePoint(codePoint);
  const own = latinShapes.get(text);
  if (own !== undefined) return own.toLowerCase();
  let folded = '';
  for (const part of text.normalize('NFKD')) {
    for (const small of shaped(part).normalize('NFKD')) {
      if (invisible.test(small)) continue;
      folded += wordPart.test(small) ? shaped(small) : ' ';
    }
  }
  return folded;
}

/** What `foldedPoint` says of a code point that does not become one code unit. */
export const unit = {
  /** Nothing is left of it. */
  dropped: 1,
  /** It becomes several code units: ask `foldedText`. */
  several: 2,
  /** Half of a surrogate pair: ask for the code point. */
  surrogate: 3,
  gap: 0x20,
} as const;
const unknown = 0;

/** Filled when a code point is first met: what lies above U+FFFF is rare, and its table is made when it is needed. */
const low = new Uint16Array(0x10000);
let high: Uint16Array<ArrayBuffer> | null = null;
const severals = new Map<number, string>();

function compute(codePoint: number): number {
  if (codePoint >= 0xd800 && codePoint <= 0xdfff) return unit.surrogate;
  const text = foldCodePoint(codePoint);
  if (text.length === 1) return text.charCodeAt(0);
  if (text === '') return unit.dropped;
  severals.set(codePoint, text);
  return unit.several;
}

/** Returns the one code unit that a code point becomes, or one of `unit`. */
export function foldedPoint(codePoint: number): number {
  let table: Uint16Array<ArrayBuffer> = low;
  let at = codePoint;
  if (codePoint > 0xffff) {
    high ??= new Uint16Array(0x100000);
    table = high;
    at = codePoint - 0x10000;
  }
  const known = table[at] ?? unknown;
  if (known !== unknown) return known;
  const value = compute(codePoint);
  table[at] = value;
  return value;
}

/** Returns the same as `foldCodePoint`, from the tables. */
export function foldedText(codePoint: number): string {
  const folded = foldedPoint(codePoint);
  if (folded === unit.several) return severals.get(codePoint) ?? '';
  if (folded === unit.dropped) return '';
  return folded === unit.surrogate ? ' ' : String.fromCharCode(folded);
}

/** True for letters of scripts without gaps between words, and for halves of surrogate pairs: each of them ends a word. */
export const isUnspaced = (folded: number): boolean =>
  folded >= 0x0e00 && ((folded >= 0x2e80 && folded <= 0xdfff) || folded <= 0x0eff || isSouthEastAsian(folded));
const isSouthEastAsian = (folded: number): boolean =>
  (folded >= 0x1000 && folded <= 0x109f) || (folded >= 0x1780 && folded <= 0x17ff);
