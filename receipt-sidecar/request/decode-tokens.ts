/**
 * The texts that lists of tokens stand for.
 *
 * Invariant: what would become too much text is known before any of it is made.
 */
import { maxBodyBytes } from './headers.ts';
import type { Vocabulary } from './vocabulary.ts';

/** The text of each list, or the first number that stands for nothing, or that all texts are longer than is read. */
export type Decoded = { readonly texts: readonly string[] } | { readonly unknown: number } | { readonly tooLong: true };

type Lists = readonly (readonly number[])[];

/** A special token parts two texts, as a line end does. A token of five digits can be 128 bytes of text. */
export function decodeTokens(lists: Lists, vocabulary: Vocabulary, maxTextBytes = maxBodyBytes): Decoded {
  const { lastSpecial, sizes } = vocabulary;
  let bytes = 0;
  for (const list of lists)
    for (const number of list) {
      if (number > lastSpecial) return { unknown: number };
      bytes += sizes[number] ?? 1;
    }
  return bytes > maxTextBytes ? { tooLong: true } : { texts: lists.map((list) => textOf(list, vocabulary)) };
}

/** By way of its bytes: some tokens are not whole text, and of millions of pieces a string would be put together slowly. */
function textOf(list: readonly number[], { sizes, tokens }: Vocabulary): string {
  let length = 0;
  for (const number of list) length += sizes[number] ?? 1;
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const number of list) {
    const token = tokens[number] ?? '\n';
    if (typeof token === 'string') at += bytes.write(token, at);
    else for (const byte of token) bytes[at++] = byte;
  }
  return bytes.toString('utf8');
}
