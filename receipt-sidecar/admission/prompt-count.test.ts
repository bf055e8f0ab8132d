import { emptySnapshot, plainModel } from '@gw/testing/catalogue';
import { encode } from 'gpt-tokenizer/model/gpt-4o';
import { expect, test, vi } from 'vitest';
import { parseRequest } from '../api/parse.ts';
import { vocabularyOf } from '../api/tokens/vocabulary.ts';
import { makeCatalogue } from '../catalogue/snapshot.ts';
import { promptCount, promptToCount } from './prompt-count.ts';

// A vocabulary takes half a second of processor time to read, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 });

const models = [
  { ...plainModel, id: 'known', tokenizer: 'o200k_base', contextWindow: 10 },
  { ...plainModel, id: 'unknown' },
];
const { readable } = makeCatalogue({ ...emptySnapshot, models });

async function count(fields: object, path = 'count_tokens'): Promise<number | null> {
  const parsed = parseRequest(path, Buffer.from(JSON.stringify({ model: 'known', max_tokens: 1, ...fields })));
  if (!parsed.ok) throw new Error(parsed.error.message);
  const found = promptToCount(parsed.value.request, parsed.value.body, { allowed: null, models: readable });
  return found && promptCount(found, await vocabularyOf(found.tokenizer), () => false);
}
const tokens = (...texts: string[]) => texts.reduce((sum, text) => sum + encode(text).length, 0);
const said = (content: unknown) => ({ messages: [{ role: 'user', content }] });

test('all texts of a prompt count, and a frame around each message, however long the prompt is', async () => {
  const long = 'What is the weather like in Paris today? '.repeat(50);
  expect(await count(said(long))).toBe(tokens(long) + 4 + 3);
  const tool = { name: 'weather', description: 'Tells the weather', input_schema: { type: 'object' } };
  const call = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Paris' } };
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'Rain' }] };
  const paper = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'A plain paper' } };
  const thought = { type: 'thinking', thinking: 'I wonder', signature: 's' };
  const messages = [
    { role: 'user', content: [{ type: 'text', text: 'Hello' }, paper] },
    { role: 'assistant', content: [thought, call] },
    { role: 'user', content: [result] },
  ];
  const texts = ['Be brief', 'Hello', 'A plain paper', 'weather', '{"city":"Paris"}', 'Rain', JSON.stringify(tool)];
  expect(await count({ system: 'Be brief', messages, tools: [tool] })).toBe(tokens(...texts) + 4 * 4 + 3);
});

test('what no tokenizer counts is left to a provider', async () => {
  const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
  const result = { type: 'tool_result', tool_use_id: 't', content: [image] };
  for (const content of [[image], [{ type: 'text', text: 'See' }, image], [result]])
    expect(await count(said(content)), JSON.stringify(content)).toBeNull();
  expect(await count({ ...said('Hello'), model: 'unknown' })).toBeNull();
  expect(await count({ ...said('Hello'), tools: [{ type: 'bash_20250124', name: 'bash' }] })).toBeNull();
  // A piece that is too long to be merged.
  expect(await count(said('x'.repeat(200_000)))).toBeNull();
});

test('no other call has its prompt counted', async () => {
  expect(await count(said('Hello'), 'messages')).toBeNull();
});
