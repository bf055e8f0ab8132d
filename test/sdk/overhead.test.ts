/** `x-gw-overhead-ms`: what the gateway took, without the provider and without a client that sends slowly. */
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { messages, openAi, stack } from './gateway.ts';

const overheadOf = (headers: { get(name: string): string | null }): number => {
  const value = headers.get('x-gw-overhead-ms') ?? '';
  expect(value).toMatch(/^\d+\.\d\d$/);
  expect(Number(value)).toBeGreaterThan(0);
  return Number(value);
};

/** The simulator waits so long before it answers. What the client waited for besides is at least what the gateway took. */
const providerMs = 700;

const calls = {
  chat: { path: '/v1/chat/completions', fields: { messages } },
  responses: { path: '/v1/responses', fields: { input: 'Hello' } },
  messages: { path: '/v1/messages', fields: { messages, max_tokens: 50 } },
} as const;

describe.each(Object.values(calls))('$path', ({ fields, path }) => {
  test.each([false, true])('the provider is not in it (stream: %s)', async (stream) => {
    const begun = performance.now();
    const reply = await fetch(`${stack.publicUrl}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${stack.keys.enterprise}`,
        'content-type': 'application/json',
        'x-sim-delay-ms': String(providerMs),
      },
      body: JSON.stringify({ model: 'sim-small', ...fields, stream }),
    });
    const elapsed = performance.now() - begun;
    expect(reply.status).toBe(200);
    expect(elapsed - overheadOf(reply.headers)).toBeGreaterThan(providerMs - 5);
    await reply.body?.cancel().catch(() => undefined);
  });
});

test('a client that sends its request slowly is not in it', async () => {
  const body = JSON.stringify({ model: 'sim-small', messages });
  const url = new URL(`${stack.publicUrl}/v1/chat/completions`);
  const headers = {
    authorization: `Bearer ${stack.keys.enterprise}`,
    'content-type': 'application/json',
    'content-length': String(body.length),
    'x-sim-tokens-per-second': '0',
  };
  const slow = request(url, { method: 'POST', headers });
  const answered = new Promise<Record<string, unknown>>((resolve, reject) => {
    slow.on('response', (reply) => {
      reply.resume();
      resolve(reply.headers);
    });
    slow.on('error', reject);
  });
  slow.write(body.slice(0, 10));
  const begun = performance.now();
  await delay(providerMs);
  slow.end(body.slice(10));
  const shown = (await answered)['x-gw-overhead-ms'];
  const elapsed = performance.now() - begun;
  expect(elapsed - overheadOf(new Headers({ 'x-gw-overhead-ms': String(shown) }))).toBeGreaterThan(providerMs - 5);
});

test('replies that come from no provider have none', async () => {
  const refused = await openAi(stack.keys.enterprise)
    .chat.completions.create({ model: 'no-such-model', messages })
    .catch((error: { headers: Headers }) => error);
  expect((refused as { headers: Headers }).headers.get('x-gw-overhead-ms')).toBe(null);
});
