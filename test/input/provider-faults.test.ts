/**
 * However a provider fails, the client gets a completion with an honest receipt or an error of ours; and a call that
 * reached a provider is in the ledger.
 */
import { receiptInReply } from '@gw/testing/receipt-in-reply';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { accountsForFile } from '../sdk/test-account.ts';
import {
  call,
  expectCompletion,
  expectRefusal,
  invalid,
  newMarker,
  type Reply,
  reachedProvider,
  send,
  upstream,
} from './ask.ts';

const accounts = accountsForFile();
const key = await accounts.create();

const fault = (name: string, fields: object = {}, headers: Record<string, string> = {}) =>
  call(fields, { 'x-sim-fault': name, ...headers }, { key });

const stored = z.looseObject({
  id: z.string(),
  status: z.string(),
  tier: z.string(),
  degraded_reason: z.string().optional(),
});

/** The receipt that the reply names, from the ledger; waits while the end of the call is still being noted. */
async function receiptOf(reply: Reply): Promise<z.infer<typeof stored>> {
  const id = String(reply.headers['x-gw-receipt-id']);
  let found: Reply | undefined;
  const read = async () => {
    found = await send({ method: 'GET', path: `/v1/gw/receipts/${id}`, key });
    return found.status;
  };
  await expect.poll(read, { timeout: 10_000, interval: 200 }).toBe(200);
  return stored.parse(JSON.parse(found?.text ?? ''));
}

const failed = { status: 'upstream_error', tier: 'degraded', degraded_reason: 'upstream_error_unmeasured' };
const mebibyte = 1024 * 1024;

describe.each([false, true])('before a reply has begun (stream: %s)', (stream) => {
  it.each([
    ['status-401', upstream('upstream_auth_failed')],
    ['status-403', upstream('upstream_auth_failed')],
    ['content-filter', invalid('content_filter', 'messages')],
    // It says that the model is missing, which is no fault of the client.
    ['status-404', upstream('upstream_error')],
    ['status-413', invalid('upstream_rejected_request')],
    ['status-422', invalid('upstream_rejected_request')],
    ['status-429', upstream('upstream_rate_limited')],
    ['status-500', upstream('upstream_error')],
    ['status-503', upstream('upstream_error')],
    ['reset', upstream('upstream_error')],
    ['html', upstream('upstream_error')],
    ['empty', upstream('upstream_error')],
  ])('%s', async (name, refusal) => {
    const reply = await fault(name, { stream });
    const message = expectRefusal(reply, refusal);
    expect(message).not.toMatch(/<|overloaded|forbidden/);
    expect(await receiptOf(reply)).toMatchObject(failed);
  });

  it('status-400 is the client’s own, with the field that the provider names', async () => {
    const reply = await fault('status-400', { stream });
    expect(expectRefusal(reply, invalid('invalid_max_tokens', 'max_tokens'))).toBe('Simulated failure 400.');
    expect(await receiptOf(reply)).toMatchObject(failed);
  });

  it.each(['status-401', 'status-429', 'status-500', 'reset'])(
    '%s is tried in every region, or in the pinned one alone',
    async (name) => {
      const free = newMarker();
      await fault(name, { stream }, { 'x-sim-marker': free });
      expect(await reachedProvider(free)).toBe(3);
      const pinned = newMarker();
      const reply = await fault(name, { stream, gw: { region: 'eu-north' } }, { 'x-sim-marker': pinned });
      expect(reply.status).toBe(502);
      // A connection that closes at once is taken for an idle one that was just being closed.
      expect(await reachedProvider(pinned)).toBe(name === 'reset' ? 2 : 1);
    },
  );

  it.each(['status-400', 'content-filter', 'malformed', 'cut'])(
    '%s is not tried again: it was answered',
    async (name) => {
      const marker = newMarker();
      await fault(name, { stream }, { 'x-sim-marker': marker });
      expect(await reachedProvider(marker)).toBe(1);
    },
  );
});

describe('a JSON reply', () => {
  it.each([
    ['malformed', upstream('upstream_invalid_response')],
    ['cut', upstream('upstream_invalid_response')],
    ['error-event', upstream('upstream_error')],
  ])('%s', async (name, refusal) => {
    const reply = await fault(name);
    expectRefusal(reply, refusal);
    expect(await receiptOf(reply)).toMatchObject(failed);
  });

  it('without usage passes with a receipt that estimates it', async () => {
    for (const path of ['/v1/chat/completions', '/v1/completions']) {
      const reply = await call({ prompt: 'hi' }, { 'x-sim-fault': 'no-usage' }, { path, key });
      expect(expectCompletion(reply).gw).toMatchObject({
        status: 'complete',
        usage_source: 'estimated',
        tier_reason: expect.stringContaining('are estimated from the text'),
      });
      expect(await receiptOf(reply)).toEqual(receiptInReply.parse(expectCompletion(reply).gw));
    }
  });

  it('with a receipt of its own gets ours instead, once', async () => {
    const reply = await fault('own-gw');
    expect(reply.text).not.toContain('forged');
    // The receipt, and its few numbers in the usage.
    expect(reply.text.match(/"gw":/g)).toHaveLength(2);
    expect(reply.text.match(/"routing_trace":/g)).toHaveLength(1);
    expect(await receiptOf(reply)).toEqual(receiptInReply.parse(expectCompletion(reply).gw));
  });

  it('that is compressed although nobody asked for it comes plain', async () => {
    const plain = expectCompletion(await fault('no-done'));
    const reply = await fault('gzip');
    expect(expectCompletion(reply).choices).toEqual(plain.choices);
    expect(reply.headers).not.toHaveProperty('content-encoding');
    expect(await receiptOf(reply)).toEqual(receiptInReply.parse(expectCompletion(reply).gw));
    const { text } = await fault('gzip', { stream: true });
    expect(text).toMatch(/"gw":.*data: \[DONE\]\n\n$/s);
  });

  it('in the smallest pieces, in letters of many bytes, is the same as in one', async () => {
    const plain = expectCompletion(await fault('no-done', {}, { 'x-sim-text': 'unicode' }));
    const split = expectCompletion(await fault('split', {}, { 'x-sim-text': 'unicode' }));
    expect(split.choices).toEqual(plain.choices);
    expect(JSON.stringify(plain.choices)).toMatch(/[^\0-\x7f]/);
  });

  it('of 20 MiB passes with its receipt', async () => {
    const reply = await fault('big', {}, { 'x-sim-bytes': String(20 * mebibyte) });
    expect(expectCompletion(reply).gw.tier).toBe('parametric');
    expect(reply.text.length).toBeGreaterThan(20 * mebibyte);
  });

  it.each([65, 80])('of %i MiB is too large to be read', async (size) => {
    const reply = await fault('big', {}, { 'x-sim-bytes': String(size * mebibyte) });
    expectRefusal(reply, upstream('upstream_invalid_response'));
    expect(await receiptOf(reply)).toMatchObject(failed);
  });
});
