import { expect, test } from 'vitest';
import ecologits from '../data/ecologits-models.json' with { type: 'json' };
import cards from '../data/model-cards.json' with { type: 'json' };
import { findModel } from './known-models.ts';

test.each<[string, number, number, number, number]>([
  ['gpt-oss-120b', 117, 117, 5.1, 5.1],
  ['openai/gpt-oss-120b', 117, 117, 5.1, 5.1],
  ['gpt-oss:120b', 117, 117, 5.1, 5.1],
  ['gpt-4o-mini', 8, 28, 8, 28],
  ['openai/GPT-4o-mini-2024-07-18', 8, 28, 8, 28],
  ['gemini-2.5-flash', 440, 440, 44, 132],
  ['phi-4', 14, 14, 14, 14],
  ['mistral-small-latest', 119, 119, 8, 8],
  ['claude-haiku-4-5', 10, 35, 10, 35],
  ['claude-haiku-4-5@20251001', 10, 35, 10, 35],
  ['accounts/fireworks/models/deepseek-v3', 671, 671, 37, 37],
  ['deepseek-ai/DeepSeek-R1-0528-FP8', 671, 671, 37, 37],
  ['RedHatAI/Llama-4-Scout-17B-16E-Instruct-w4a16', 109, 109, 17, 17],
  ['models/gemini-2.5-flash', 440, 440, 44, 132],
  ['google/gemma-7b-GGUF', 8.54, 8.54, 8.54, 8.54],
])('%s has %d to %d billion parameters, of which %d to %d serve a token', (id, totalMin, totalMax, min, max) => {
  expect(findModel(id)).toMatchObject({ total: { min: totalMin, max: totalMax }, active: { min, max } });
});

test.each([
  'gpt-4o-mini-of-ours',
  'my-gpt-4o-mini',
  'gpt-4o-min',
  'gpt-oss',
  'phi-4-mini-of-ours',
  'openai/',
  'acme/gpt-4o',
  '/gpt-4o',
  'acme/finetunes/gpt-oss-120b',
  'chat-latest',
  '',
  'constructor',
])('nothing is known of %j, whatever it begins or ends with', (id) => {
  expect(findModel(id)).toBeNull();
});

test('a short name that stands for models of two sizes finds neither', () => {
  const bare = (name: string) => name.slice(name.lastIndexOf('/') + 1).toLowerCase();
  const sizes = new Map<string, Set<string>>();
  for (const { active, names, total } of ecologits.rows)
    for (const name of names) {
      const size = JSON.stringify([total, active]);
      sizes.set(bare(name), (sizes.get(bare(name)) ?? new Set()).add(size));
    }
  const ofCards = new Set(cards.rows.flatMap(({ names }) => names.map(bare)));
  const shared = [...sizes].filter(([name, each]) => each.size > 1 && !ofCards.has(name)).map(([name]) => name);
  expect(shared.map(findModel)).toEqual(shared.map(() => null));
});

test.each([
  ['gpt-oss-20b', 4],
  ['unsloth/gpt-oss-20b-BF16', 16],
  ['gpt-oss-120b-fp8', 8],
  ['gpt-oss-120b-gguf', null],
  ['deepseek-r1', 8],
  ['phi-4', null],
  ['someone/DeepSeek-R1-AWQ', 4],
])('%s has weights of %s bits', (id, bits) => {
  expect(findModel(id)?.bits).toBe(bits);
});

test('each has an address as its source, and no more parameters at work than there are', () => {
  for (const { names: known } of [...cards.rows, ...ecologits.rows])
    for (const name of known) {
      const model = findModel(name);
      expect(model, name).not.toBeNull();
      expect(model?.source, name).toMatch(/https:\/\/\S+$/);
      expect(model?.source.length, name).toBeLessThanOrEqual(300);
      expect(model?.active.min, name).toBeGreaterThan(0);
      expect(model?.active.max, name).toBeLessThanOrEqual(Number(model?.total.max));
    }
});
