/**
 * 64 connections as fast as they are answered: nothing but 200 and intended 429, no receipt lost or doubled.
 *
 * `./gw test long` shows how a minute of it affects the memory of the parts.
 */
import { issuedKeySchema } from '@gw/contract/keys';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { gateway } from './broken-gateway.ts';
import { type Load, type Refusal, runLoad } from './load-client.ts';
import { eventually } from './own-gateway.ts';

describe('64 connections', () => {
  const parts = ['ext-authz', 'receipt-sidecar', 'control-plane', 'valkey'] as const;
  const connections = 64;
  /** Every other connection calls with one key, of so little that the slowest machine asks for more. */
  const limitedEvery = 2;
  const limits = { per_s: 5, burst: 20, per_day: 100_000 };

  let redis: Redis;
  let load: Load;
  let since: Date;
  let pidsBefore: ReadonlyMap<string, number>;

  const pidsNow = () => new Map(parts.map((name) => [name, gateway.stack.part(name).pid ?? 0]));

  beforeAll(async () => {
    redis = new Redis(gateway.stack.redisUrl);
    const { publicUrl, keys } = gateway.stack;
    const path = '/operator/v1/accounts/acct_demo_enterprise/keys';
    const body = { name: 'under load', limits };
    const limited = issuedKeySchema.parse(await apiOf(gateway.stack).send('POST', path, body));
    since = new Date();
    pidsBefore = pidsNow();
    load = await runLoad({
      publicUrl,
      connections,
      durationMs: 2500,
      leastReplies: 101,
      keyOf: (connection) => (connection % limitedEvery === 0 ? limited.key : keys.enterprise),
    });
  });
  afterAll(() => redis?.disconnect());

  test('no reply but 200 and 429, each whole', () => {
    expect(load.faults).toEqual([]);
    expect(load.torn).toEqual([]);
    expect(load.receiptIds.length).toBeGreaterThan(100);
    expect(load.refusals.filter(({ status }) => status !== 429)).toEqual([]);
  });

  test('every 429 is meant: it tells the limits, and when to come back', () => {
    expect(load.refusals.length).toBeGreaterThan(0);
    for (const refusal of load.refusals) expect(limitsOf(refusal)).toEqual(ofTheKey);
  });

  const ofTheKey = {
    code: 'requests_per_second_exceeded',
    retryAfter: '1',
    limit: String(limits.burst),
    remaining: '0',
    resetIsSoon: true,
    limitDay: String(limits.per_day),
    remainingDayIsThere: true,
    resetDayIsThere: true,
  };

  function limitsOf({ headers, text }: Refusal): typeof ofTheKey {
    const header = (name: string) => String(headers[name]);
    const reset = Number(header('x-ratelimit-reset-requests'));
    return {
      code: JSON.parse(text).error.code,
      retryAfter: header('retry-after'),
      limit: header('x-ratelimit-limit-requests'),
      remaining: header('x-ratelimit-remaining-requests'),
      resetIsSoon: reset > 0 && reset <= 1,
      limitDay: header('x-ratelimit-limit-day'),
      remainingDayIsThere: /^\d+$/.test(header('x-ratelimit-remaining-day')),
      resetDayIsThere: /^\d+$/.test(header('x-ratelimit-reset-day')),
    };
  }

  test('no receipt is lost, and none is there twice', async () => {
    const ids = new Set(load.receiptIds);
    expect(ids.size).toBe(load.receiptIds.length);
    await eventually('all rows', async () => (await gateway.ledger.count(since)).rows >= ids.size, 60_000);
    expect(await gateway.ledger.count(since)).toEqual({ rows: ids.size, ids: ids.size });
  }, 90_000);

  test('no part was started again', () => {
    expect(pidsNow()).toEqual(pidsBefore);
  });

  test('Valkey keeps nothing of a receipt that Postgres has', async () => {
    // Entries leave the stream behind the commit of their rows.
    await eventually('the stream to be empty', async () => (await redis.xlen('gw:ledger')) === 0, 90_000);
    await eventually('nothing to be pending', async () => (await redis.zcard('{gw:ledger}:pending')) === 0, 90_000);
    // Entries of earlier suites, which killed Valkey, can stay for an hour.
    const copies = load.receiptIds.map((id) => `{gw:ledger}:receipt:${id}`);
    await eventually('the copies to be gone', async () => (await redis.exists(...copies)) === 0, 90_000);
    const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
    expect(used).toBeLessThan(32 * 1024 * 1024);
  }, 300_000);
});
