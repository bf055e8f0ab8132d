/** Estimates how many letters folding makes of a text, without folding it. */
import { defined } from '@gw/contract/internal/defined';
import { foldedText } from './fold.ts';

/** The number of characters that are looked at. Their places are random, so that no text can show others than it has. */
const samples = 32;
/** In bytes. */
const longestCharacter = 4;
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Returns the mean number of letters that a byte of this UTF-8 text becomes; 0 for an empty one. */
export function lettersPerByte(bytes: Uint8Array, random: () => number = Math.random): number {
  let sum = 0;
  for (let sample = 0; sample < samples && bytes.length > 0; sample++) {
    const at = firstByte(bytes, Math.floor(random() * bytes.length));
    const text = decoder.decode(bytes.subarray(at, at + longestCharacter));
    const codePoint = defined(text.codePointAt(0), 'A character');
    sum += foldedText(codePoint).replaceAll(' ', '').length / Buffer.byteLength(String.fromCodePoint(codePoint));
  }
  return sum / samples;
}

const isInside = (bytes: Uint8Array, at: number): boolean => (defined(bytes[at], 'A byte') & 0xc0) === 0x80;

/** Returns where the character of a byte begins. */
function firstByte(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at > 0 && from - at < longestCharacter - 1 && isInside(bytes, at)) at--;
  return at;
}
