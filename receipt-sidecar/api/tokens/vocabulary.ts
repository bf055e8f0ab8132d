/**
 * The vocabularies by which prompts are counted and lists of tokens are read. On threads alone: one takes half a second
 * of the processor to read, and some 50 MB to hold.
 */
import type { Tokenizer } from '@gw/contract/internal/tokenizers';

export interface Vocabulary {
  /** Text, or the bytes of a token that is not whole text, by number; numbers that are left out have no token. */
  readonly tokens: readonly (string | readonly number[] | undefined)[];
  /** How many UTF-8 bytes each token is. */
  readonly sizes: Uint8Array;
  /** The number of each token, by its bytes as Latin-1 text. */
  readonly ranks: ReadonlyMap<string, number>;
  /** The pattern that cuts text into pieces. */
  readonly pieces: RegExp;
  /** The highest number of a token; the special ones are above those of text. */
  readonly lastSpecial: number;
}

interface Ranks {
  readonly default: Vocabulary['tokens'];
}
type Load = () => Promise<Ranks>;

const vocabularies: Readonly<Record<Tokenizer, readonly [load: Load, pattern: Pattern, lastSpecial: number]>> = {
  o200k_base: [() => import('gpt-tokenizer/bpeRanks/o200k_base') as Promise<Ranks>, 'O200K', 201_088],
  cl100k_base: [() => import('gpt-tokenizer/bpeRanks/cl100k_base') as Promise<Ranks>, 'CL100K', 100_276],
  p50k_base: [() => import('gpt-tokenizer/bpeRanks/p50k_base') as Promise<Ranks>, 'R50K', 50_283],
  r50k_base: [() => import('gpt-tokenizer/bpeRanks/r50k_base') as Promise<Ranks>, 'R50K', 50_256],
};
type Pattern = 'O200K' | 'CL100K' | 'R50K';

const loaded = new Map<Tokenizer, Vocabulary>();

/** Reads a vocabulary when it is first asked for, and keeps it. */
export async function vocabularyOf(name: Tokenizer): Promise<Vocabulary> {
  const known = loaded.get(name);
  if (known) return known;
  const [load, pattern, lastSpecial] = vocabularies[name];
  const [{ default: tokens }, patterns] = await Promise.all([load(), import('gpt-tokenizer/encodingParams/constants')]);
  const ranks = new Map<string, number>();
  // A number that is left out, or above all of these, reads as a line end.
  const sizes = new Uint8Array(tokens.length).fill(1);
  for (const [number, token] of tokens.entries()) {
    if (token === undefined) continue;
    const bytes = Buffer.from(token as string);
    ranks.set(bytes.toString('latin1'), number);
    sizes[number] = bytes.length;
  }
  const vocabulary = { tokens, sizes, ranks, pieces: patterns[`${pattern}_TOKEN_SPLIT_REGEX`], lastSpecial };
  loaded.set(name, vocabulary);
  return vocabulary;
}
