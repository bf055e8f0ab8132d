/** Tests how an orderly end treats calls with an idempotency key, over a real Valkey. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { CloseOptions } from '@gw/grpc/service';
import { Idempotency, redisClaims } from '@gw/service/idempotency';
import { createReplyCipher } from '@gw/service/internals/idempotency/reply-cipher';
import type { RedisWriter } from '@gw/service/redis-writer';
import { callForTests, chatBody, contextForTests } from '@gw/testing/receipt-sidecar/call';
import { emptyValkey, readyWriter } from '@gw/testing/valkey';
import { expect, test, vi } from 'vitest';
import { Claims } from '../guards/idempotency/claims.ts';
import type { CallContext } from './call-context.ts';
import { endCalls } from './end-calls.ts';

const cipher = createReplyCipher([randomBytes(32)]);

test('those who wait are told to come back before the drain, and the key of a call that is cut is free after it', async () => {
  const url = await emptyValkey();
  const [redis, later] = await Promise.all([readyWriter(url), readyWriter(url)]);
  const open = (on: RedisWriter) => new Idempotency({ claims: redisClaims(on), cipher, now: () => performance.now() });
  const [ours, another] = [open(redis), open(later)];
  const claims = new Claims({
    idempotency: ours,
    giveBack: async () => undefined,
    metrics: { found: () => undefined },
  });
  const claim: CallContext['claims']['find'] = (asked, request) =>
    claims.find(asked, { ...request, bodySha256: 'sha' });
  const ask = async (answers: number) => {
    const call = callForTests(contextForTests({ claim }).context);
    call.ask(chatBody(), {}, { 'idempotency-key': 'once' });
    await vi.waitFor(() => expect(call.answers.length).toBe(answers), 20_000);
    return call;
  };
  const runs = await ask(2);
  const waits = await ask(1);
  // Until it waits for the other.
  await delay(100);
  expect([runs.answers.length, waits.answers.length]).toEqual([2, 1]);

  const order: string[] = [];
  const server = {
    leave: async () => void order.push('left'),
    // The calls that are cut close a little later than the server.
    close: async (graceMs: number, { beforeCut }: CloseOptions = {}) => {
      order.push(`waits ${graceMs}`);
      await delay(200);
      order.push(`waiter: ${waits.answers[1]?.immediateResponse?.status?.code}`);
      beforeCut?.();
      setImmediate(() => runs.close());
    },
  };
  await endCalls({
    server,
    instances: 2,
    drainS: 600,
    slots: { abandon: () => void order.push('abandoned') },
    idempotency: ours,
    ends: { settle: async () => void order.push('settled') },
  });
  redis.stop();
  expect(order).toEqual(['left', 'waits 600000', 'waiter: 429', 'abandoned', 'settled']);
  expect(JSON.stringify(waits.answers[1])).toContain('retry-after');

  const found = await another.claim(
    { accountId: 'acct', path: '/v1/chat/completions', key: 'once', body: 'sha' },
    null,
  );
  expect(found).toMatchObject({ is: 'claimed', claim: { mayHaveRun: true } });
  another.stop();
  later.stop();
});
