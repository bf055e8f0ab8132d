import { liveHoldsS } from '@gw/contract/internal/live';
import { liveKey } from '@gw/contract/internal/redis';
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildOperatorApp } from './operator-app.ts';

let running: TestApp;
let tokens: Awaited<ReturnType<typeof seedOperators>>;
let read: () => Promise<{ statusCode: number; json(): Record<string, unknown> }>;
beforeAll(async () => {
  running = await startTestApp();
  tokens = await seedOperators(running.context);
  read = () => withToken(running.operator, tokens.viewer)('GET', '/operator/v1/live');
}, 120_000);
afterAll(() => running?.stop());

const reportAt = (at: number, more: object = {}) =>
  JSON.stringify({
    instance: 'host unix:/run/gw/receipt-sidecar.sock',
    calls: 20,
    failed: 2,
    aborted: 1,
    degraded: 1,
    refused: 4,
    errors: 1,
    took: [],
    overhead: [],
    streams: 3,
    windowS: 10,
    at,
    ...more,
  });

test('what sidecars report is added up, and who is silent counts no longer', async () => {
  const { redis } = running.context;
  expect((await read()).json()).toMatchObject({ sidecars: 0, calls_per_s: null, latency_ms: null, overhead_ms: null });
  const now = Date.now();
  await redis.hset(liveKey, {
    one: reportAt(now, { took: [[44, 10]] }),
    other: reportAt(now - 2000, {
      took: [
        [44, 9],
        [60, 1],
      ],
    }),
    // It has begun just now.
    young: reportAt(now, {
      calls: 20,
      windowS: 2,
      failed: 0,
      aborted: 0,
      streams: 0,
      refused: 0,
      errors: 0,
    }),
    silent: reportAt(now - liveHoldsS * 1000 - 2000),
    dead: reportAt(now - 3_600_000),
    strange: '{"at":1}',
  });
  const live = (await read()).json();
  expect(live).toMatchObject({ sidecars: 3, calls_per_s: 14, failed_per_s: 0.4, aborted_per_s: 0.2, open_streams: 6 });
  expect(live).toMatchObject({ refused_per_s: 0.8, errors_per_s: 0.2 });
  expect(live.latency_ms).toEqual({ p50: 112, p99: 1790 });
});

test('without Redis nothing is said', async () => {
  const redis = new Redis({ lazyConnect: true, enableOfflineQueue: false });
  const app = buildOperatorApp({ ...running.context, redis }, running.services);
  const reply = await withToken(app, tokens.viewer)('GET', '/operator/v1/live');
  expect([reply.statusCode, reply.json().error.code]).toEqual([503, 'overloaded']);
  await app.close();
});

test('nobody but operators reads it', async () => {
  expect((await running.operator.inject({ url: '/operator/v1/live' })).statusCode).toBe(401);
});
