/** As many streams may be open as were agreed, and each end of one makes room, as an SDK and Valkey see it. */
import { slotsKey } from '@gw/contract/internal/redis';
import OpenAI, { RateLimitError } from 'openai';
import { describe, expect, test } from 'vitest';
import { collect, messages, openAi, quick, stack } from '../sdk/gateway.ts';
import { accountsForFile } from '../sdk/test-account.ts';

const accounts = accountsForFile();
const { redis } = accounts;

/** One token a second: it is open until somebody ends it. */
const endless = { 'x-sim-tokens': '10000', 'x-sim-tokens-per-second': '1' };
const streamed = { model: stack.model, messages, stream: true as const };
const open = (key: string, sim: Record<string, string> = endless, client = openAi(key)) =>
  client.chat.completions.create(streamed, { headers: sim });

/** The accounts of these tests are named after their key. */
const accountOf = (key: string): string => `acct_test_${key.split('_')[1]}`;
const held = (key: string): Promise<number> => redis.zcard(slotsKey(accountOf(key)));

async function refusal(opened: Promise<unknown>): Promise<RateLimitError> {
  const error: unknown = await opened.then(
    () => 'it was let in',
    (error: unknown) => error,
  );
  if (!(error instanceof RateLimitError)) throw new Error(`It was not refused as it should be: ${error}`);
  return error;
}

describe('an Audit account', () => {
  test('has 25 streams open, is told so at the next one, and gets it once one has ended', async () => {
    const key = await accounts.create();
    const streams = await Promise.all(Array.from({ length: 25 }, () => open(key)));
    expect(await held(key)).toBe(25);

    const error = await refusal(open(key));
    expect(error.code).toBe('concurrent_streams_exceeded');
    expect(error.type).toBe('rate_limit_error');
    expect(error.message).toContain('This account has 25 streams open, and its limit is 25.');
    expect(error.headers.get('retry-after')).toBe('1');
    expect(error.headers.get('x-should-retry')).toBeNull();
    expect(error.headers.get('x-gw-receipt-id')).toBeNull();
    // It was admitted by the limits of requests, and tells where they stand.
    expect(Number(error.headers.get('x-ratelimit-remaining-day'))).toBe(100_000 - 26);
    expect([...error.headers.keys()].filter((name) => name.startsWith('x-gw-'))).toEqual([]);
    expect(await held(key)).toBe(25);

    // A call that is no stream needs no slot.
    expect((await openAi(key).chat.completions.create({ model: stack.model, messages })).object).toBe(
      'chat.completion',
    );
    expect((await openAi(key).embeddings.create({ model: 'sim-embed', input: 'x' })).object).toBe('list');

    // An SDK that may try again gets through by itself.
    const patient = open(key, quick, openAi(key, { maxRetries: 5 }));
    streams[0]?.controller.abort();
    expect((await collect(await patient)).length).toBeGreaterThan(1);
    for (const stream of streams) stream.controller.abort();
    await expect.poll(() => held(key), { timeout: 10_000 }).toBe(0);
  });
});

describe('the slot of a stream is free again', () => {
  /** Read to its end, whatever that is. */
  const faulty = async (key: string, error: string) => {
    const headers = { ...quick, 'x-sim-fault': error };
    await open(key, headers).then(collect).catch(expectApiError);
  };
  const expectApiError = (error: unknown) => {
    if (!(error instanceof OpenAI.APIError || error instanceof TypeError)) throw error;
  };
  const ended: Readonly<Record<string, (key: string) => Promise<unknown>>> = {
    'when it is complete': async (key) => collect(await open(key, quick)),
    'when the client aborts it': async (key) => (await open(key)).controller.abort(),
    'when the client leaves before the first byte': async (key) => {
      const leaving = new AbortController();
      const silent = { ...endless, 'x-sim-delay-ms': '60000' };
      const asked = openAi(key).chat.completions.create(streamed, { headers: silent, signal: leaving.signal });
      await expect.poll(() => held(key)).toBe(1);
      leaving.abort();
      await asked.catch(expectApiError);
    },
    'when the provider refuses it': (key) => faulty(key, 'status-400'),
    'when no provider serves it': (key) => faulty(key, 'status-503'),
    'when the provider resets the connection': (key) => faulty(key, 'reset'),
    'when the provider tells an error in the stream': (key) => faulty(key, 'error-event'),
    'when the provider cuts it': (key) => faulty(key, 'cut'),
    'when the provider ends it without its last event': (key) => faulty(key, 'no-done'),
    'when the provider answers with something else': (key) => faulty(key, 'html'),
    'when the provider encodes it': (key) => faulty(key, 'gzip'),
    'when no region takes it': (key) =>
      openAi(key)
        .chat.completions.create({ ...streamed, model: 'unknown' })
        .catch(expectApiError),
  };
  test.each(Object.keys(ended))('%s', async (end) => {
    const key = await accounts.create({ streams: 1 });
    await ended[end]?.(key);
    await expect.poll(() => held(key), { timeout: 10_000 }).toBe(0);
    expect((await collect(await open(key, quick))).length).toBeGreaterThan(1);
  });

  test('at once when its end was seen, so that the next one is never refused', async () => {
    const key = await accounts.create({ streams: 1 });
    for (let at = 0; at < 20; at += 1) await collect(await open(key, quick));
  });
});

describe('what was agreed with an Enterprise account', () => {
  test('holds for the account and for the part of a key', async () => {
    const key = await accounts.create({ streams: 3 }, { keyStreams: 2 });
    const streams = [await open(key), await open(key)];
    const error = await refusal(open(key));
    expect(error.message).toContain('This API key has 2 streams open, and its limit is 2.');
    for (const stream of streams) stream.controller.abort();
  });

  test('is counted and refuses nothing in shadow mode', async () => {
    const key = await accounts.create({ streams: 1, shadow: ['streams'] });
    const streams = [await open(key), await open(key), await open(key)];
    expect(await held(key)).toBe(3);
    const metrics = await (await fetch(`${stack.healthUrls['receipt-sidecar']}/metrics`)).text();
    const shadowed = /^gw_stream_slots_total\{[^}]*outcome="shadowed"[^}]*counted="exact"[^}]*\} (\d+)$/m.exec(metrics);
    expect(Number(shadowed?.[1])).toBeGreaterThanOrEqual(2);
    for (const stream of streams) stream.controller.abort();
  });
});

test('many that ask at once get as many streams as there are, and no more', async () => {
  const key = await accounts.create({ streams: 10 });
  const asked = await Promise.allSettled(Array.from({ length: 40 }, () => open(key)));
  const got = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  expect(got).toHaveLength(10);
  const refused = asked.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  expect(refused.every((error) => error instanceof OpenAI.RateLimitError)).toBe(true);
  for (const stream of got) stream.controller.abort();
});
