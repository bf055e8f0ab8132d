/**
 * Folds code points for screening: into normalised letters and digits, into nothing, or into a gap between words.
 *
 * Invariants: folding depends only on the code point, so a text can be folded in any pieces, and it is idempotent. It is coarser than
 * NFKC with case folding: texts that NFKC makes equal are equal here, except for U+FDFA. A code point becomes at most eight letters and gaps,
 * so that a text costs at most three times what an English one of its size does. Combining marks and invisible characters are removed, so accents
 * are ignored, and letters that look like a Latin one become it.
 */
import { defined } from '@gw/contract/internal/defined';
import { latinShapes } from './lookalikes.ts';

/** Combining marks and invisible characters: zero-width, soft hyphen, variation selectors, tags. */
const invisible = /[\p{Mn}\p{Me}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
const wordPart = /[\p{L}\p{N}\p{Mc}]/u;

/** Ranges of enclosed letters without a decomposition, and of the regional indicators in flags. */
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

/**
 * A code point that would become more letters and gaps stays as it is. This is U+FDFA alone, a whole phrase in one sign, which would make a
 * text six times as long.
 */
const mostLetters = 8;

/** Shape first, then lower case, since a letter may look Latin in only one case. */
const shaped = (letter: string): string => (latinShapes.get(letter) ?? letter).toLowerCase();

/**
 * Returns lower-case letters and digits, a space for a gap, or nothing for an invisible code point. A few code points become several
 * letters. NFKD is defined in UAX 15; the shapes are in lookalikes.ts.
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
  return folded.length > mostLetters ? text : folded;
}

/** Results of `foldedPoint` for code points that do not become one code unit. */
export const unit = {
  /** It is removed. */
  dropped: 1,
  /** It becomes several code units; use `foldedText`. */
  several: 2,
  /** Half of a surrogate pair; use the code point. */
  surrogate: 3,
  gap: 0x20,
} as const;
const unknown = 0;

/** Filled lazily. Code points above U+FFFF are rare, so their table is created on demand. */
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

/** Like `foldCodePoint`, from the tables. */
export function foldedText(codePoint: number): string {
  const folded = foldedPoint(codePoint);
  if (folded === unit.several) return defined(severals.get(codePoint), 'A folded text');
  if (folded === unit.dropped) return '';
  return folded === unit.surrogate ? ' ' : String.fromCharCode(folded);
}

/** Whether the letter can end a word by itself: in scripts without gaps between words, and halves of surrogate pairs. */
export const isUnspaced = (folded: number): boolean =>
  folded >= 0x0e00 && ((folded >= 0x2e80 && folded <= 0xdfff) || folded <= 0x0eff || isSouthEastAsian(folded));
const isSouthEastAsian = (folded: number): boolean =>
  (folded >= 0x1000 && folded <= 0x109f) || (folded >= 0x1780 && folded <= 0x17ff);
