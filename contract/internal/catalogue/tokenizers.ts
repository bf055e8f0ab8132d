/**
 * OpenAI's byte-level vocabularies, which a model's catalogue entry may name. Their variants (`gpt2`, `o200k_harmony`, `p50k_edit`)
 * differ only in special tokens, which client text never contains.
 */
export const tokenizers = ['o200k_base', 'cl100k_base', 'p50k_base', 'r50k_base'] as const;
export type Tokenizer = (typeof tokenizers)[number];

/** Returns null for a name from a newer catalogue. */
export const knownTokenizer = (name: string | null | undefined): Tokenizer | null =>
  tokenizers.find((known) => known === name) ?? null;

/** UTF-8 bytes of the longest token of each (such as 128 spaces), so a text has at least bytes / 128 tokens. */
export const longestTokenBytes = 128;
