import { usageShapes } from '@gw/testing/usage-shapes';
import { expect, it } from 'vitest';
import { placeOfCounts } from './provider-ways.ts';

it.each([
  [{ usage: { prompt_tokens: 1 } }, 'usage'],
  [{ usage: null, x_groq: { id: 'a', usage: { prompt_tokens: 1 } } }, 'x_groq.usage'],
  [{ choices: [{ usage: { completion_tokens: 1 } }] }, 'choices[].usage'],
  [{ usageMetadata: { promptTokenCount: 1 } }, 'usageMetadata'],
  [{ timings: { predicted_n: 4 } }, 'timings'],
  [{ eval_count: 4 }, 'the reply itself'],
  [{ choices: [{ message: { content: 'prompt_tokens' } }], usage: { prompt_tokens: 'many' } }, null],
  [[], null],
  ['usage', null],
])('the counts of %j stand in %s', (reply, place) => {
  expect(placeOfCounts(reply)).toBe(place);
});

it('the place of each shape that the gateway reads is found', () => {
  const lost = usageShapes.filter(({ events, json }) =>
    [json, ...(events ?? [])].every((each) => placeOfCounts(each) === null),
  );
  expect(lost.map(({ name }) => name)).toEqual([]);
});
