/**
 * Replies that a sidecar was translating when it died or stood still. Nobody is left to translate the rest, so a client gets an error in the
 * words of its own API in its place, and never those of the provider's.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { defined } from '@gw/contract/internal/defined';
import { pendingLeaseMs } from '@gw/contract/internal/redis';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Api, addProviders, modelBehind, send } from '../sdk/translated-clients.ts';
import { eventually, type OwnGateway, startOwnGateway } from './own-gateway.ts';

let gateway: OwnGateway;
beforeAll(async () => {
  gateway = await startOwnGateway();
  await addProviders(gateway.stack);
});
afterEach(() => gateway.mend());
afterAll(() => gateway?.stop());

const code = 'receipt_generation_failed';
const errorOf: Readonly<Record<Api, object>> = {
  chat: { error: { code, type: 'methodology_error' } },
  messages: { type: 'error', error: { type: 'api_error', code } },
  responses: { type: 'error', code, error: { code } },
};
let markers = 0;
const newMarker = () => {
  markers += 1;
  return `translated-${markers}`;
};
const release = (marker: string) => gateway.client.release(marker);

async function readUntil(reply: Response, enough: (text: string) => boolean) {
  const reader = defined(reply.body, 'A body').getReader();
  let text = '';
  const go = async (isEnough: (text: string) => boolean) => {
    while (!isEnough(text)) {
      const { done, value } = await reader.read();
      if (done) break;
      text += Buffer.from(value).toString();
    }
    return text;
  };
  await go(enough);
  return () => go(() => false);
}
const eventsOf = (text: string) =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => (data === '[DONE]' ? data : JSON.parse(data)));

const ofClient: Readonly<Record<Api, (event: Record<string, unknown>) => boolean>> = {
  chat: (event) => event.object === 'chat.completion.chunk',
  messages: (event) => /^(message|content_block)_/.test(String(event.type)),
  responses: (event) => String(event.type).startsWith('response.'),
};
function expectError(from: Api, text: string): void {
  const events = eventsOf(text);
  expect(events.at(-1)).toMatchObject(errorOf[from]);
  expect(events.length).toBeGreaterThan(4);
  expect(events.slice(0, -1).filter((event) => !ofClient[from](event))).toEqual([]);
}

const held = (from: Api, to: Api, at: 'start' | 'middle', marker: string, fields: object = { stream: true }) => {
  const headers = { 'x-sim-tokens': '60', 'x-sim-tokens-per-second': '60', 'x-sim-hold': at, 'x-sim-marker': marker };
  return send(gateway.stack, from, { model: modelBehind(to), headers }, { fields });
};
const hasBegun = (text: string) => text.split('\n\n').length > 8;

test.each([
  ['chat', 'messages'],
  ['messages', 'responses'],
  ['responses', 'chat'],
] as const)(
  'killed amid a stream of %s over %s, and before its reply: an error of its API, and no word of the other',
  async (from, to) => {
    const [early, late] = [newMarker(), newMarker()];
    const waiting = [held(from, to, 'start', early), held(from, to, 'start', early, {})];
    const stream = await held(from, to, 'middle', late);
    const readRest = await readUntil(stream, hasBegun);
    await eventually('the provider to have the calls', async () => (await gateway.client.reachedProvider(early)) === 2);
    gateway.kill('receipt-sidecar');
    await delay(50);
    await Promise.all([release(early), release(late)]);
    expectError(from, await readRest());
    const replies = await Promise.all(waiting);
    for (const reply of replies) {
      const { error } = (await reply.json()) as { error: object };
      expect([reply.status, error]).toEqual([500, expect.objectContaining({ code })]);
    }
    await gateway.whole();
    const ids = [stream, ...replies].map(({ headers }) => String(headers.get('x-gw-receipt-id')));
    const known = () => gateway.db.receipt.count({ where: { id: { in: ids } } });
    // They are closed when their sidecar's lease is over.
    await eventually('the ledger to know all', async () => (await known()) === ids.length, 2 * pendingLeaseMs);
  },
);

test('standing still amid a stream: the same', async () => {
  const marker = newMarker();
  const stream = await held('messages', 'chat', 'middle', marker);
  const readRest = await readUntil(stream, hasBegun);
  const goOn = gateway.pause('receipt-sidecar');
  await release(marker);
  expectError('messages', await readRest());
  goOn();
});

test('killed while a provider counts tokens: an error of its API, and no word of the provider', async () => {
  const marker = newMarker();
  // No tokenizer counts a picture.
  const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
  const messages = [{ role: 'user', content: [{ type: 'image', source }] }];
  const { keys, publicUrl } = gateway.stack;
  const asked = fetch(`${publicUrl}/v1/messages/count_tokens`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': keys.auditPlus,
      'x-sim-hold': 'start',
      'x-sim-marker': marker,
    },
    body: JSON.stringify({ model: 'sim-large', messages }),
  });
  await eventually('the provider to have the call', async () => (await gateway.client.reachedProvider(marker)) === 1);
  gateway.kill('receipt-sidecar');
  await delay(50);
  await release(marker);
  const reply = await asked;
  expect([reply.status, await reply.json()]).toEqual([
    502,
    { type: 'error', error: expect.objectContaining({ code: 'upstream_error' }), request_id: expect.any(String) },
  ]);
  expect(reply.headers.get('x-gw-receipt-id')).toBeNull();
});
