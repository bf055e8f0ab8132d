/**
 * 64 connections for a minute: nothing but 200 and intended 429, no receipt lost or doubled, no memory that grows.
 */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Load, type Refusal, runLoad } from './load-client.ts';
import { median, quarter, watchMemory } from './memory.ts';
import { eventually, type OwnGateway, startOwnGateway } from './own-gateway.ts';

const parts = ['ext-authz', 'receipt-sidecar', 'control-plane', 'valkey'] as const;
const connections = 64;
/** Every other connection calls with the Audit key, whose 50 requests a second it shares with the others of its kind. */
const auditEvery = 2;

let gateway: OwnGateway;
let redis: Redis;
let load: Load;
let memory: ReadonlyMap<string, readonly number[]>;
let since: Date;
let pidsBefore: ReadonlyMap<string, number>;

const pidsNow = () => new Map(parts.map((name) => [name, gateway.stack.part(name).pid ?? 0]));

beforeAll(async () => {
  gateway = await startOwnGateway();
  redis = new Redis(gateway.stack.redisUrl);
  const { publicUrl, keys } = gateway.stack;
  since = new Date();
  pidsBefore = pidsNow();
  const watch = watchMemory(pidsBefore);
  load = await runLoad({
    publicUrl,
    connections,
    durationMs: 60_000,
    keyOf: (connection) => (connection % auditEvery === 0 ? keys.audit : keys.enterprise),
  });
  memory = watch.stop();
  console.log(summary());
}, 180_000);
afterAll(async () => {
  redis?.disconnect();
  await gateway?.stop();
});

function summary(): string {
  const tops = [...memory].map(([name, values]) => `${name} ${Math.round(median(quarter(values, 3)))} MB`);
  return `${load.receiptIds.length} replies of 200, ${load.refusals.length} of 429; ${tops.join(', ')}`;
}

test('no reply but 200 and 429, each whole', () => {
  expect(load.faults).toEqual([]);
  expect(load.torn).toEqual([]);
  expect(load.receiptIds.length).toBeGreaterThan(1000);
  expect(load.refusals.filter(({ status }) => status !== 429)).toEqual([]);
});

test('every 429 is meant: it tells the limits, and when to come back', () => {
  expect(load.refusals.length).toBeGreaterThan(0);
  for (const refusal of load.refusals) expect(limitsOf(refusal)).toEqual(auditLimits);
});

const auditLimits = {
  code: 'requests_per_second_exceeded',
  retryAfter: '1',
  limit: '200',
  remaining: '0',
  resetIsSoon: true,
  limitDay: '100000',
  remainingDayIsThere: true,
  resetDayIsThere: true,
};

function limitsOf({ headers, text }: Refusal): typeof auditLimits {
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

test('no part was started again, and the memory of none grows after the warm-up', () => {
  expect(pidsNow()).toEqual(pidsBefore);
  for (const [name, values] of memory) {
    // V8 lets its heap grow to the load for the first half, and collects in steps of some 30 MB: hence the most of the third
    // quarter. 20 MB more in a quarter of a minute would be some 4 kB a call.
    const warm = Math.max(...quarter(values, 2));
    const late = median(quarter(values, 3));
    expect(late, `${name}: ${values.map(Math.round).join(' ')} MB`).toBeLessThanOrEqual(
      Math.max(warm * 1.15, warm + 20),
    );
  }
});

test('Valkey keeps nothing of a receipt that Postgres has', async () => {
  expect(await redis.xlen('gw:ledger')).toBe(0);
  expect(await redis.zcard('gw:receipts:pending')).toBe(0);
  await eventually('the copies to be gone', async () => (await redis.keys('gw:receipt:*')).length === 0);
  const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  expect(used).toBeLessThan(32 * 1024 * 1024);
});
