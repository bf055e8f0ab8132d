import { liveHoldsS } from '@gw/contract/internal/live';
import { liveKey } from '@gw/contract/internal/redis';
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { afterAll, beforeAll, expect, test } from 'vitest';

let running: TestApp;
let read: () => Promise<{ statusCode: number; json(): Record<string, unknown> }>;
beforeAll(async () => {
  running = await startTestApp();
  const tokens = await seedOperators(running.context);
  read = () => withToken(running.operator, tokens.viewer)('GET', '/operator/v1/live');
}, 120_000);
afterAll(() => running?.stop());

const reportAt = (at: number, more: object = {}) =>
  JSON.stringify({
    ...{ calls: 20, failed: 2, aborted: 1, degraded: 1 },
    took: [],
    overhead: [],
    streams: 3,
    at,
    ...more,
  });

test('what sidecars report is added up, and who is silent counts no longer', async () => {
  const { redis } = running.context;
  expect((await read()).json()).toMatchObject({ sidecars: 0, calls_per_s: 0, latency_ms: null, overhead_ms: null });
  const now = Date.now();
  await redis.hset(liveKey, {
    one: reportAt(now, { took: [[44, 10]] }),
    other: reportAt(now - 2000, {
      took: [
        [44, 9],
        [60, 1],
      ],
    }),
    silent: reportAt(now - liveHoldsS * 1000 - 2000),
    dead: reportAt(now - 3_600_000),
    strange: '{"at":1}',
  });
  const live = (await read()).json();
  expect(live).toMatchObject({ sidecars: 2, calls_per_s: 4, failed_per_s: 0.4, aborted_per_s: 0.2, open_streams: 6 });
  expect(live.latency_ms).toEqual({ p50: 112, p99: 1790 });
  expect((await redis.hkeys(liveKey)).sort()).toEqual(['one', 'other', 'silent']);
});

test('nobody but operators reads it', async () => {
  expect((await running.operator.inject({ url: '/operator/v1/live' })).statusCode).toBe(401);
});
