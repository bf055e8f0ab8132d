import { knownTokenizer } from '@gw/contract/internal/tokenizers';
import { expect, test } from 'vitest';
import { customModel, simulatorModels } from './demo-catalogue.ts';

test.each([
  ['gpt-4o-mini', 'o200k_base'],
  ['gpt-4.1', 'o200k_base'],
  ['gpt-5-nano-2025-08-07', 'o200k_base'],
  ['openai/gpt-oss-120b', 'o200k_base'],
  ['o3-mini', 'o200k_base'],
  ['gpt-4-turbo', 'cl100k_base'],
  ['gpt-3.5-turbo-instruct', 'cl100k_base'],
  ['text-embedding-3-small', 'cl100k_base'],
  ['text-embedding-ada-002', 'cl100k_base'],
  ['llama-3.1-8b', null],
  ['olmo-2', null],
  ['o1024', null],
  ['BAAI/bge-m3', null],
])('the vocabulary of %s is taken to be %s', (id, tokenizer) => {
  expect(customModel(id, 'https://llm.example.com/v1').tokenizer).toBe(tokenizer);
});

test('the simulated models name vocabularies that there are, but for one that is never counted', () => {
  const named = simulatorModels.map(({ id, tokenizer }) => [id, knownTokenizer(tokenizer)]);
  expect(Object.fromEntries(named)).toEqual({
    'sim-small': 'o200k_base',
    'sim-large': 'o200k_base',
    'sim-measured': null,
    'sim-embed': 'cl100k_base',
  });
});
