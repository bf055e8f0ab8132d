/**
 * Valkey and Postgres killed, paused and brought back under a stream of calls.
 *
 * Receipts are counted at both ends: every one that a client saw is in Postgres afterwards, and none is there twice.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { PartName } from '@gw/stack/stack-plans';
import { isLongRun } from '@gw/testing/cases';
import { Redis } from 'ioredis';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { gateway } from './broken-gateway.ts';
import type { Reply } from './client.ts';
import { expectComplete, expectCompleteOrNotStored, expectOverloaded } from './expect-reply.ts';
import { eventually } from './own-gateway.ts';

describe('stores that fail', () => {
  let replies: Reply[] = [];

  beforeEach(() => {
    replies = [];
  });

  /**
   * `rounds` times a chat, a completion, an embedding and a stream at once. Each has to pass, with its receipt made unless
   * `expectOne` takes less.
   */
  async function callsPass(rounds: number, expectOne: (reply: Reply) => unknown = expectComplete): Promise<void> {
    const { client } = gateway;
    for (let round = 0; round < rounds; round += 1) {
      replies.push(
        ...(await Promise.all([client.chat(), client.completion(), client.embedding(), client.chat({ stream: true })])),
      );
    }
    for (const reply of replies) expectOne(reply);
  }

  /** Every receipt that a client saw is stored as it was seen; `since`: and nothing was stored twice. */
  async function allStored(since: Date): Promise<void> {
    const ids = replies.map((reply) => reply.receipt?.id ?? '');
    expect(new Set(ids).size).toBe(replies.length);
    const stored = await gateway.ledger.receipts(ids);
    for (const { receipt } of replies) expect(stored.get(receipt?.id ?? '')).toEqual(receipt);
    const { rows, ids: different } = await gateway.ledger.count(since);
    expect(rows).toBe(different);
  }

  async function health(part: 'ext-authz' | 'receipt-sidecar'): Promise<Record<string, unknown>> {
    const reply = await fetch(`${gateway.stack.healthUrls[part]}/healthz`);
    return z.record(z.string(), z.unknown()).parse(await reply.json());
  }

  test('without Valkey calls pass, limits go on locally, and the spool brings every receipt home', async () => {
    const since = new Date();
    await callsPass(5);
    await gateway.killForGood('valkey');
    await callsPass(10);
    expect((await health('ext-authz')).limits_exact).toBe(false);
    expect((await health('receipt-sidecar')).redis).toBe(false);

    // 200 at once and 50 a second: the account of the Audit key runs dry on this instance alone.
    const burst = await Promise.all(
      Array.from({ length: 300 }, () => gateway.client.get('/v1/models', gateway.stack.keys.audit)),
    );
    const refused = burst.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(burst.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(200);
    for (const { headers } of refused) expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);

    await gateway.start('valkey');
    await eventually('Valkey to be used again', async () => (await health('receipt-sidecar')).redis === true);
    await callsPass(5);
    await eventually('limits to be exact again', async () => (await health('ext-authz')).limits_exact === true);
    await allStored(since);
  });

  const killed: [what: string, parts: PartName[]][] = [
    ['Valkey', ['valkey']],
    ['Postgres', ['postgres']],
  ];
  if (isLongRun) killed.push(['Valkey and Postgres at once', ['valkey', 'postgres']]);
  test.each(killed)(
    '%s killed under calls: none fails, and each receipt that was shown is stored once',
    async (_, parts) => {
      const since = new Date();
      // While Valkey dies, a disk that is busy may not take a receipt in time either: the client is told so, and the rest holds.
      const passing = callsPass(40, expectCompleteOrNotStored);
      for (let kills = 0; kills < 3; kills += 1) {
        await delay(300);
        for (const part of parts) gateway.kill(part);
      }
      await passing;
      const complete = replies.filter(({ receipt }) => receipt?.tier === 'parametric');
      expect(complete.length).toBeGreaterThan(replies.length * 0.75);
      await allStored(since);
    },
    90_000,
  );

  test('Valkey emptied under calls while nobody ingests: every receipt is in Postgres afterwards, once', async () => {
    const since = new Date();
    const redis = new Redis(gateway.stack.redisUrl);
    const goOn = gateway.pause('control-plane');
    const passing = callsPass(40, expectCompleteOrNotStored);
    for (let times = 0; times < 3; times += 1) {
      await delay(700);
      await redis.flushall();
    }
    await passing;
    await redis.flushall();
    redis.disconnect();
    goOn();
    await allStored(since);
  }, 90_000);

  if (isLongRun)
    test('Valkey standing still: calls pass, and none is stored twice when it goes on', async () => {
      const since = new Date();
      const goOn = gateway.pause('valkey');
      await callsPass(3);
      goOn();
      await callsPass(3);
      await allStored(since);
    }, 90_000);

  test('without Postgres calls with a known key pass, an unknown one is our fault, and receipts arrive afterwards', async () => {
    const since = new Date();
    await callsPass(2);
    await gateway.killForGood('postgres');
    await callsPass(10);
    expectOverloaded(await gateway.client.chat({ key: gateway.stack.keys.auditPlus }));
    const { receipt } = replies.at(-1) ?? {};
    const read = await gateway.client.get(`/v1/gw/receipts/${receipt?.id}`);
    expect(read).toMatchObject({ status: 200, json: receipt });
    await gateway.start('postgres');
    await eventually('the unknown key to be known', async () => {
      const { status } = await gateway.client.chat({ key: gateway.stack.keys.auditPlus });
      return status === 200;
    });
    await callsPass(2);
    await allStored(since);
  });

  if (isLongRun)
    test('Postgres standing still: calls with a known key pass, and receipts arrive when it goes on', async () => {
      const since = new Date();
      await callsPass(2);
      const goOn = gateway.pause('postgres');
      await callsPass(5);
      goOn();
      await allStored(since);
    });

  test('the control plane away: calls pass, and receipts arrive when it is back', async () => {
    const since = new Date();
    await gateway.killForGood('control-plane');
    await callsPass(5);
    await gateway.start('control-plane');
    await allStored(since);
  });

  if (isLongRun)
    test('without both stores calls with a known key still pass, and their receipts arrive afterwards', async () => {
      const since = new Date();
      await callsPass(1);
      await Promise.all([gateway.killForGood('valkey'), gateway.killForGood('postgres')]);
      await callsPass(5);
      await gateway.start('postgres');
      await gateway.start('valkey');
      await callsPass(1);
      await allStored(since);
    }, 90_000);
});
