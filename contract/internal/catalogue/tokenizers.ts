/**
 * The tokenizers that a model's entry in the catalogue may name: OpenAI's byte-level vocabularies. Other names of the same
 * (`gpt2`, `o200k_harmony`, `p50k_edit`) differ in special tokens alone, which text of a client never is.
 */
export const tokenizers = ['o200k_base', 'cl100k_base', 'p50k_base', 'r50k_base'] as const;
export type Tokenizer = (typeof tokenizers)[number];

/** A name that this version does not know, from a newer catalogue, is as good as none. */
export const knownTokenizer = (name: string | null | undefined): Tokenizer | null =>
  tokenizers.find((known) => known === name) ?? null;

/** UTF-8 bytes of the longest token in each of them (128 spaces, for one), so no text has fewer tokens than bytes / 128. */
export const longestTokenBytes = 128;
