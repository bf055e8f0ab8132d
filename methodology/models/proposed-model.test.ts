import { expect, test } from 'vitest';
import { proposedModel } from './proposed-model.ts';

const elsewhere = 'https://llm.example.com/v1';

test.each<[string, 'chat' | 'embedding', number | null, number | null]>([
  ['llama-3.1-8b-instruct', 'chat', 8, 8],
  ['meta-llama/Llama-3.3-70B-Instruct', 'chat', 70, 70],
  ['llama3.2:1b', 'chat', 1, 1],
  ['qwen2.5:0.5b', 'chat', 0.5, 0.5],
  ['Qwen/Qwen3-30B-A3B', 'chat', 30, 3],
  ['Qwen/Qwen3-235B-A22B-Instruct-2507', 'chat', 235, 22],
  ['mixtral-8x7b', 'chat', 56, 14],
  ['mistralai/Mixtral-8x22B-of-ours', 'chat', 176, 44],
  ['gemma-3-270m', 'chat', 0.27, 0.27],
  ['BAAI/bge-m3-of-ours', 'embedding', null, null],
  ['bge-large-en-v1.5', 'embedding', null, null],
  ['intfloat/e5-mistral-7b-instruct', 'embedding', 7, 7],
  ['sentence-transformers/all-MiniLM-L6-v2', 'embedding', null, null],
  ['nomic-embed-text', 'embedding', null, null],
  ['text-embedding-3-small', 'embedding', null, null],
  ['gpt-4o-of-ours', 'chat', null, null],
  ['phi3.5', 'chat', null, null],
  ['o9', 'chat', null, null],
  ['gemini-2.5-flash-8b', 'chat', 8, 8],
  ['llama-5-scout-17b-16e-instruct', 'chat', null, null],
  ['allenai/OLMoE-1B-7B-0924', 'chat', 7, 7],
  ['qwen2.5-7b-instruct-1m', 'chat', 7, 7],
  ['some-model-1m', 'chat', null, null],
  ['model-0b', 'chat', null, null],
  ['x-999999999b', 'chat', null, null],
])('%s: %s, %s billion parameters, %s active', (id, kind, totalB, activeB) => {
  const guess = proposedModel(id, elsewhere);
  const counts = [totalB, activeB].map((count) => (count === null ? null : { min: count, max: count }));
  expect(guess).toMatchObject({ kind, total: counts[0], active: counts[1] });
  const isKnown = totalB !== null;
  expect(guess.modelClass).toBe(isKnown ? null : kind === 'embedding' ? 'embedding' : 'unknown');
  expect(guess.because).toMatch(/^by its name/);
  // No size was guessed where the class says that it is unknown.
  expect(guess.parametersSource).toBe(guess.modelClass === 'unknown' ? null : `guessed ${guess.because}`);
});

test('a chat model whose size neither a source nor its name tells is of unknown size, and nothing else is said of it', () => {
  expect(proposedModel('gpt-4o-of-ours', elsewhere)).toEqual({
    kind: 'chat',
    total: null,
    active: null,
    modelClass: 'unknown',
    bits: null,
    tokensPerS: null,
    ttftS: null,
    hiddenReasoning: null,
    parametersSource: null,
    because: 'by its name: it chats; its size is unknown, so the bounds of its receipts hold models of any size',
  });
});

test('what is known of a model counts more than its name, and says who knows it', () => {
  expect(proposedModel('openai/gpt-oss-120b', elsewhere)).toEqual({
    kind: 'chat',
    total: { min: 117, max: 117 },
    active: { min: 5.1, max: 5.1 },
    modelClass: null,
    bits: 4,
    tokensPerS: null,
    ttftS: null,
    hiddenReasoning: null,
    parametersSource: 'https://huggingface.co/openai/gpt-oss-120b',
    because: 'it chats, with 117 billion parameters (5.1 serve a token); https://huggingface.co/openai/gpt-oss-120b',
  });
  const mini = proposedModel('gpt-4o-mini', 'https://api.openai.com/v1');
  expect(mini).toMatchObject({ total: { min: 8, max: 28 }, modelClass: null, tokensPerS: 79, ttftS: 0.54 });
  expect(mini.because).toMatch(/^it chats, with 8 to 28 billion parameters; estimated by EcoLogits 0.11.3, https:/);
  // Nobody has measured how fast another serves it.
  expect(proposedModel('gpt-4o-mini', elsewhere)).toMatchObject({ tokensPerS: null, ttftS: null });
  expect(proposedModel('bge-m3', elsewhere)).toMatchObject({ kind: 'embedding', modelClass: null });
});

test.each<[string, true | null]>([
  ['o3', true],
  ['openai/gpt-5-mini', true],
  ['claude-sonnet-4-5@20250929', true],
  ['models/gemini-2.5-flash', true],
  ['gpt-4o', null],
  ['gpt-5-chat-latest', null],
  ['gpt-oss-120b', null],
  ['deepseek-r1', null],
  ['acme/o3', null],
  ['o3-of-ours', null],
])('%s thinks unseen: %s', (id, hiddenReasoning) => {
  expect(proposedModel(id, elsewhere)).toMatchObject({ hiddenReasoning });
});

test('no name makes it slow, or fail', () => {
  for (const part of ['8x', 'a', '7b', '1.', '-', '9'.repeat(50)]) proposedModel(part.repeat(2000), elsewhere);
});
