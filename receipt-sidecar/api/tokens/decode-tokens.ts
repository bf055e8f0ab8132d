/**
 * The texts that lists of tokens stand for.
 *
 * Invariant: what would become too much text is known before any of it is made.
 */
import { maxBodyBytes } from '../../wire/headers.ts';
import type { Vocabulary } from './vocabulary.ts';

/** The text of each list; or the first number that is no token; or that the texts together are too long. */
export type Decoded = { readonly texts: readonly string[] } | { readonly unknown: number } | { readonly tooLong: true };

type Lists = readonly (readonly number[])[];

/**
 * Decodes lists of tokens; a special token becomes a line end. Five digits can stand for 128 bytes, hence the bound.
 */
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

/** Goes by bytes: some tokens are not whole text, and joining millions of strings would be slow. */
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
