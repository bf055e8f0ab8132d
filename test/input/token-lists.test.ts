/** Lists of tokens say what their text says: there is no way around screening by tokenising first. */
import { expect, it } from 'vitest';
import { expectRefusal, invalid, newMarker, quick, reachedProvider, send } from './ask.ts';

/** In the vocabulary of sim-embed and in that of sim-small. */
const texts = {
  harmless: { cl100k: [4438, 311, 1304, 264, 20543, 15688], o200k: [5299, 316, 1520, 261, 24035, 19736] },
  blocked: { cl100k: [4438, 311, 1304, 264, 99197, 16530], o200k: [5299, 316, 1520, 261, 140229, 13351] },
} as const;

const ask = (path: string, body: object, headers: Record<string, string> = {}) =>
  send({ path, body: JSON.stringify(body), headers: { ...quick, ...headers } });
const violation = { status: 403, type: 'policy_error', code: 'acceptable_use_violation', param: null };

it('a list is read for screening, even where it is split, and the provider gets the numbers', async () => {
  const { harmless, blocked } = texts;
  const marker = newMarker();
  const passing = await ask(
    '/v1/embeddings',
    { model: 'sim-embed', input: harmless.cl100k },
    { 'x-sim-echo-body': '1' },
  );
  expect(passing.status, passing.text).toBe(200);
  expect(JSON.parse(JSON.parse(passing.text).sim_body).input).toEqual(harmless.cl100k);
  const completion = await ask('/v1/completions', { model: 'sim-small', prompt: [harmless.o200k, harmless.o200k] });
  expect(completion.status, completion.text).toBe(200);
  const headers = { 'x-sim-marker': marker };
  for (const input of [
    blocked.cl100k,
    [harmless.cl100k, blocked.cl100k],
    [blocked.cl100k.slice(0, 2), blocked.cl100k.slice(2)],
  ])
    expectRefusal(await ask('/v1/embeddings', { model: 'sim-embed', input }, headers), violation);
  for (const stream of [false, true])
    expectRefusal(
      await ask('/v1/completions', { model: 'sim-small', prompt: blocked.o200k, stream }, headers),
      violation,
    );
  expect(await reachedProvider(marker)).toBe(0);
});

it('a list that cannot be read is refused: a number without a token, a model without a vocabulary', async () => {
  const unknown = await ask('/v1/embeddings', { model: 'sim-embed', input: [1, 999_999] });
  expect(expectRefusal(unknown, invalid('invalid_input', 'input'))).toContain('999999');
  const unread = await ask('/v1/completions', { model: 'sim-measured', prompt: texts.harmless.o200k });
  expect(expectRefusal(unread, invalid('invalid_prompt', 'prompt'))).toContain('check_embedding_ctx_length=False');
});
