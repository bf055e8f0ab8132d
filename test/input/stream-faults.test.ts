/** A stream that goes wrong after it has begun ends in one error event, or is broken off; its receipt is made anyway. */
import { receiptInReply } from '@gw/testing/receipt-in-reply';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { accountsForFile } from '../sdk/test-account.ts';
import { call, type Reply, send, stack } from './ask.ts';

const accounts = accountsForFile();
const key = await accounts.create();

const paced = { 'x-sim-tokens-per-second': '200', 'x-sim-tokens': '10' };
const fault = (name: string, headers: Record<string, string> = {}, fields: object = {}) =>
  call({ stream: true, ...fields }, { ...paced, 'x-sim-fault': name, ...headers }, { key });

const event = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        delta: z.looseObject({ content: z.string().nullish() }),
        finish_reason: z.string().nullable(),
      }),
    )
    .optional(),
  gw: z.looseObject({ id: z.string(), tier: z.string(), usage_source: z.string().nullable() }).optional(),
  error: z.looseObject({ type: z.string(), code: z.string() }).optional(),
});

function readEvents(reply: Reply) {
  const texts = reply.text.split('\n\n').filter((text) => text.startsWith('data: '));
  const done = texts.filter((text) => text === 'data: [DONE]').length;
  const events = texts.filter((text) => text !== 'data: [DONE]').map((text) => event.parse(JSON.parse(text.slice(6))));
  const content = events
    .flatMap(({ choices }) => choices ?? [])
    .map(({ delta }) => delta.content ?? '')
    .join('');
  return {
    events,
    content,
    done,
    receipts: events.flatMap(({ gw }) => gw ?? []),
    errors: events.flatMap(({ error }) => error ?? []),
  };
}

async function stored(reply: Reply): Promise<unknown> {
  const path = `/v1/gw/receipts/${reply.headers['x-gw-receipt-id']}`;
  let found: Reply | undefined;
  const read = async () => {
    found = await send({ method: 'GET', path, key });
    return found.status;
  };
  await expect.poll(read, { timeout: 10_000, interval: 200 }).toBe(200);
  return JSON.parse(found?.text ?? '');
}

it.each([
  ['error-event', 'upstream_error'],
  ['malformed', 'upstream_invalid_response'],
])('%s becomes one error event of ours, and no [DONE]', async (name, code) => {
  const reply = await fault(name);
  const { events, done, receipts, errors } = readEvents(reply);
  expect([reply.status, reply.broken, done, receipts.length]).toEqual([200, false, 0, 0]);
  expect(errors).toMatchObject([{ type: 'inference_error', code }]);
  expect(events.at(-1)?.error).toBeDefined();
  expect(reply.text).not.toContain('Simulated error');
  expect(await stored(reply)).toMatchObject({ status: 'upstream_error', usage_source: 'estimated' });
});

it('a cut stream is broken off, and what was seen is in the ledger', async () => {
  // Slower, so that the first events are through before the end, however busy the machine: before them it is no stream that was cut.
  const reply = await fault('cut', { 'x-sim-tokens-per-second': '10' });
  expect([reply.status, reply.broken]).toEqual([200, true]);
  expect(reply.text).not.toContain('[DONE]');
  expect(await stored(reply)).toMatchObject({ status: 'upstream_error', usage_source: 'estimated' });
});

it('a stream without [DONE] still carries its receipt', async () => {
  const reply = await fault('no-done');
  const { done, receipts, events } = readEvents(reply);
  expect([reply.broken, done, receipts.length]).toEqual([false, 0, 1]);
  expect(events.at(-1)?.choices?.[0]?.finish_reason).toBe('stop');
  expect(await stored(reply)).toEqual(receiptInReply.parse(receipts[0]));
});

it('a stream without usage is estimated, and says so', async () => {
  const reply = await fault('no-usage');
  const { done, receipts } = readEvents(reply);
  expect(done).toBe(1);
  expect(receipts).toMatchObject([{ usage_source: 'estimated' }]);
  expect(await stored(reply)).toEqual(receiptInReply.parse(receipts[0]));
});

it('a stream with receipts of its own gets ours instead, once', async () => {
  const reply = await fault('own-gw');
  expect(reply.text).not.toContain('forged');
  const { receipts } = readEvents(reply);
  expect(receipts).toHaveLength(1);
  expect(await stored(reply)).toEqual(receiptInReply.parse(receipts[0]));
});

it('a stream in the smallest pieces, in letters of many bytes, says the same as in whole events', async () => {
  const unicode = { 'x-sim-text': 'unicode', 'x-sim-tokens': '40' };
  const split = readEvents(await fault('split', unicode));
  const whole = readEvents(await fault('no-energy', unicode));
  expect(split.content).toBe(whole.content);
  expect(split.content).toMatch(/[^\0-\x7f]/);
  expect([split.done, split.receipts.length]).toEqual([1, 1]);
});

it('an event of 5 MiB passes', async () => {
  const reply = await fault('big', { 'x-sim-bytes': String(5 * 1024 * 1024) });
  const { done, receipts } = readEvents(reply);
  expect([reply.broken, done, receipts.length]).toEqual([false, 1, 1]);
  expect(reply.text.length).toBeGreaterThan(5 * 1024 * 1024);
});

it.each([false, true])(
  'a provider that hangs after its last word holds nothing back (usage asked for: %s)',
  async (usage) => {
    const abort = new AbortController();
    const reply = await fetch(`${stack.publicUrl}/v1/chat/completions`, {
      method: 'POST',
      signal: abort.signal,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...paced,
        'x-sim-fault': 'stall-end',
      },
      body: JSON.stringify({
        model: 'sim-small',
        messages: [{ role: 'user', content: 'hi' }],
        stream: true,
        ...(usage ? { stream_options: { include_usage: true } } : {}),
      }),
    });
    let text = '';
    // The connection stays open; reading ends with the chunk that says how the answer ended.
    for await (const bytes of reply.body ?? []) {
      text += Buffer.from(bytes).toString();
      if (/"finish_reason":"stop"/.test(text) && (usage || text.includes('"gw":'))) break;
    }
    abort.abort();
    expect(text).toContain('"finish_reason":"stop"');
  },
);
