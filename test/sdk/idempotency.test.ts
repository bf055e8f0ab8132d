/** A call with an `Idempotency-Key` runs once, through the whole gateway, as the official client sends it. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { usageSchema } from '@gw/contract/usage';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { call, newMarker, quick, type Reply, reachedProvider, send } from '../input/ask.ts';
import { collect, eventually, get, openAi, receiptOf, stack } from './gateway.ts';
import { accountsForFile } from './test-account.ts';

const accounts = accountsForFile();

/** The official client sends its `idempotencyKey` under the name that a subclass gives it. */
class KeyedClient extends OpenAI {
  protected override idempotencyHeader = 'Idempotency-Key';
}
const keyedClient = () =>
  new KeyedClient({
    baseURL: `${stack.publicUrl}/v1`,
    apiKey: stack.keys.auditPlus,
    maxRetries: 0,
    defaultHeaders: quick,
  });

const saying = (content: string) => [{ role: 'user' as const, content }];
/** A call of the chat endpoint with a key, and how often the provider was asked for it. */
function keyed(fields: object = {}, headers: Readonly<Record<string, string>> = {}, apiKey?: string) {
  const marker = newMarker();
  const key = randomUUID();
  return {
    key,
    ask: (more: Readonly<Record<string, string>> = {}, changed: object = {}): Promise<Reply> =>
      call(
        { ...fields, ...changed },
        { ...headers, 'idempotency-key': key, 'x-sim-marker': marker, ...more },
        apiKey === undefined ? {} : { key: apiKey },
      ),
    asked: () => reachedProvider(marker),
  };
}
const told = (reply: Reply) => reply.headers['idempotent-reexecuted'];
const replayed = (reply: Reply) => reply.headers['idempotent-replayed'];
const errorOf = (reply: Reply) => JSON.parse(reply.text).error;

function expectReplay(reply: Reply, first: Reply): void {
  expect(first.status, first.text).toBe(200);
  expect(replayed(first)).toBeUndefined();
  expect([reply.status, replayed(reply)]).toEqual([200, 'true']);
  expect(reply.text).toBe(first.text);
  for (const name of ['content-type', 'cache-control', 'x-gw-receipt-id'])
    expect(reply.headers[name], name).toBe(first.headers[name]);
  expect(reply.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  expect(Number(reply.headers['x-ratelimit-remaining-requests'])).toBeGreaterThan(0);
  expect(told(reply)).toBeUndefined();
}

describe.each([
  ['/v1/chat/completions', (input: string) => ({ model: 'sim-small', messages: saying(input) })],
  ['/v1/completions', (input: string) => ({ model: 'sim-small', prompt: input })],
  ['/v1/embeddings', (input: string) => ({ model: 'sim-embed', input })],
  ['/v1/responses', (input: string) => ({ model: 'sim-small', input })],
  ['/v1/messages', (input: string) => ({ model: 'sim-small', max_tokens: 50, messages: saying(input) })],
])('%s', (path, body) => {
  const ways = path === '/v1/embeddings' ? [{}] : [{}, { stream: true }];
  test.each(ways)('answers the same call with the bytes of the first, and asks the provider once: %j', async (way) => {
    const marker = newMarker();
    const headers = { ...quick, 'idempotency-key': randomUUID(), 'x-sim-marker': marker };
    const ask = (fields: object) => send({ path, headers, body: JSON.stringify({ ...fields, ...way }) });
    const first = await ask(body(marker));
    expect(first.text).toContain(`"gw":`);
    // The same, in another order.
    expectReplay(await ask(Object.fromEntries(Object.entries(body(marker)).reverse())), first);
    expect(await reachedProvider(marker)).toBe(1);
    const other = await ask({ ...body(marker), user: 'somebody' });
    expect(errorOf(other)).toMatchObject({ code: 'idempotency_key_reused', param: 'Idempotency-Key' });
    expect(await reachedProvider(marker)).toBe(1);
  });
});

test('the official client gets the same completion and the same receipt again, whatever it says of its retries', async () => {
  const asked = { model: 'sim-small', messages: saying(newMarker()) };
  const idempotencyKey = randomUUID();
  const first = await keyedClient().chat.completions.create(asked, { idempotencyKey });
  const headers = { 'x-stainless-retry-count': '2' };
  const again = await keyedClient().chat.completions.create(asked, { idempotencyKey, headers });
  expect(again).toEqual(first);
  expect(receiptOf(again).id).toBe(receiptOf(first).id);
});

test('a key is that of one account, and of one endpoint', async () => {
  const headers = { 'idempotency-key': randomUUID() };
  const other = await accounts.create();
  const replies = [
    await call({}, headers),
    await call({}, headers, { key: other }),
    await call({ messages: undefined, prompt: 'x' }, headers, { path: '/v1/completions' }),
  ];
  expect(replies.map((reply) => [reply.status, replayed(reply), told(reply)])).toEqual(
    replies.map(() => [200, undefined, undefined]),
  );
});

test.each([
  ['above what is read at once', 200_000, '8'],
  ['with a reply above that', 10, '40000'],
])('a body %s is replayed too', async (_, length, tokens) => {
  const { ask, asked } = keyed({ user: 'x'.repeat(length) }, { 'x-sim-tokens': tokens });
  const first = await ask();
  expectReplay(await ask(), first);
  expect(await asked()).toBe(1);
});

test('a reply near the bound of what is kept is replayed too', async () => {
  const input = Array.from({ length: 50 }, (_, at) => `text ${at}`);
  const body = JSON.stringify({ model: 'sim-embed', input, encoding_format: 'float', dimensions: 1536 });
  const headers = { ...quick, 'idempotency-key': randomUUID() };
  const first = await send({ path: '/v1/embeddings', headers, body });
  expect(first.text.length).toBeGreaterThan(1_000_000);
  expectReplay(await send({ path: '/v1/embeddings', headers, body }), first);
});

describe('a stream', () => {
  const streamed = { stream: true, stream_options: { include_usage: true } };

  test('is replayed with its events', async () => {
    const { ask, asked } = keyed(streamed, { 'x-sim-tokens': '50' });
    const first = await ask();
    expect(first.text).toMatch(/"gw":.*data: \[DONE\]\n\n$/s);
    expectReplay(await ask(), first);
    expect(await asked()).toBe(1);
  });

  test('is replayed to the official client, also where the provider sent no [DONE]', async () => {
    const client = keyedClient();
    for (const fault of [{}, { 'x-sim-fault': 'no-done' }]) {
      const idempotencyKey = randomUUID();
      const ask = async () =>
        collect(
          await client.chat.completions.create(
            { model: 'sim-small', messages: saying('Hello'), stream: true },
            { idempotencyKey, headers: { ...quick, ...fault } },
          ),
        );
      const first: OpenAI.ChatCompletionChunk[] = await ask();
      expect(first.length).toBeGreaterThan(2);
      expect(await ask()).toEqual(first);
    }
  });

  test('takes no slot when it is replayed', async () => {
    const apiKey = await accounts.create({ streams: 1 });
    const { ask } = keyed({ stream: true }, {}, apiKey);
    const first = await ask();
    const leave = new AbortController();
    const open = await openAi(apiKey).chat.completions.create(
      { model: 'sim-small', messages: saying('Hello'), stream: true },
      { headers: { 'x-sim-tokens-per-second': '2', 'x-sim-tokens': '200' }, signal: leave.signal },
    );
    expect(errorOf(await call({ stream: true }, {}, { key: apiKey })).code).toBe('concurrent_streams_exceeded');
    expectReplay(await ask(), first);
    leave.abort();
    await collect(open).catch(() => undefined);
  });

  test('that its client leaves frees the key, and who calls again is told', async () => {
    const idempotencyKey = randomUUID();
    const asked = { model: 'sim-small', messages: saying(newMarker()), stream: true } as const;
    const leave = new AbortController();
    const slow = { 'x-sim-tokens-per-second': '5', 'x-sim-tokens': '500' };
    const options = { idempotencyKey, headers: slow, signal: leave.signal };
    for await (const _ of await keyedClient().chat.completions.create(asked, options)) break;
    leave.abort();
    const again = await call(asked, { 'idempotency-key': idempotencyKey }, { key: stack.keys.auditPlus });
    expect([again.status, replayed(again), told(again)]).toEqual([200, undefined, 'provider-may-have-been-asked']);
  });

  test('that breaks off is not kept', async () => {
    for (const fault of ['cut', 'error-event']) {
      const { ask, asked } = keyed({ stream: true }, { 'x-sim-tokens': '20' });
      await ask({ 'x-sim-fault': fault });
      const again = await ask();
      expect([again.status, replayed(again), told(again)], fault).toEqual([
        200,
        undefined,
        'provider-may-have-been-asked',
      ]);
      expect(await asked(), fault).toBe(2);
    }
  });
});

test('50 calls at once ask the provider once, and all get its reply', async () => {
  const { ask, asked } = keyed({}, { 'x-sim-delay-ms': '400' });
  const replies = await Promise.all(Array.from({ length: 50 }, () => ask()));
  expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(replies.filter(replayed)).toHaveLength(49);
  expect(await asked()).toBe(1);
});

test('a call waits for the one that runs, for longer than Envoy waits for an ordinary answer', {
  timeout: 60_000,
}, async () => {
  const { ask, asked } = keyed({}, { 'x-sim-delay-ms': '8000' });
  const first = ask();
  await delay(300);
  expectReplay(await ask(), await first);
  expect(await asked()).toBe(1);
});

test('an error is not kept: the key is free, and who calls again is told if a provider may have been asked', async () => {
  const { ask, asked } = keyed();
  expect((await ask({ 'x-sim-fault': 'status-500' })).status).toBe(502);
  const again = await ask();
  expect([again.status, replayed(again), told(again)]).toEqual([200, undefined, 'provider-may-have-been-asked']);
  expect(replayed(await ask())).toBe('true');
  expect(await asked()).toBeGreaterThanOrEqual(2);
  const before = keyed();
  expect(errorOf(await before.ask({}, { gw: { region: 'mars' } })).code).toBe('invalid_region');
  const first = await before.ask();
  expect([first.status, told(first)]).toEqual([200, undefined]);
});

test('a degraded reply is kept as any other', async () => {
  const { ask } = keyed({}, { 'x-sim-usage': '{"prompt_tokens":1e15,"completion_tokens":1}' });
  const first = await ask();
  expect(JSON.parse(first.text).gw.tier).toBe('degraded');
  expectReplay(await ask(), first);
});

test('a replay counts neither in the day nor in the usage', async () => {
  const apiKey = await accounts.create({ perDay: 5, perS: 100 }, { scopes: ['inference:write', 'gw:read'] });
  const { ask, asked } = keyed({}, {}, apiKey);
  const first = await ask();
  for (let times = 0; times < 8; times += 1) expectReplay(await ask(), first);
  expect(await asked()).toBe(1);
  await delay(100);
  const left = await call({}, {}, { key: apiKey });
  expect(left.headers['x-ratelimit-remaining-day']).toBe('3');
  const usage = await eventually('both receipts', async () => {
    const { data } = usageSchema.parse((await get('/v1/usage', apiKey)).body);
    const requests = data.reduce((sum, row) => sum + row.requests, 0);
    return requests >= 2 ? requests : null;
  });
  expect(usage).toBe(2);
});
