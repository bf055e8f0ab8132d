import { liveEveryS, liveReportSchema } from '@gw/contract/internal/live';
import { liveKey } from '@gw/contract/internal/redis';
import { emptyValkey } from '@gw/testing/valkey';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LiveWindow, tellLive } from './live.ts';

let redis: Redis;
beforeEach(async () => {
  redis = new Redis(await emptyValkey());
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
  redis.disconnect();
});

const later = (reports: number) => vi.advanceTimersByTime(reports * liveEveryS * 1000);
const reports = async () => Object.values(await redis.hgetall(liveKey)).map((text) => JSON.parse(text));

test('each sidecar leaves one report, anew every two seconds, and it goes when nobody writes any more', async () => {
  const window = new LiveWindow();
  const stop = [1, 2].map((at) => tellLive(redis, window, { instance: `${at}`, now: () => at, streams: () => at }));
  window.ended({ status: 'complete', isDegraded: false, ms: 5 });
  later(3);
  const told = (await reports()).map((report) => liveReportSchema.parse(report));
  expect(told.map(({ at, streams }) => [at, streams]).sort()).toEqual([
    [1, 1],
    [2, 2],
  ]);
  expect(await redis.pttl(liveKey)).toBeGreaterThan(50_000);
  // An orderly end takes it away at once.
  await Promise.all(stop.map((each) => each()));
  later(3);
  expect(await reports()).toEqual([]);
});

test('a sidecar takes away what others have left that are gone', async () => {
  await redis.hset(liveKey, { gone: '{"at":1}', young: '{"at":99000}' });
  const stop = tellLive(redis, new LiveWindow(), { instance: 'it', now: () => 100_000, streams: () => 0 });
  later(30);
  await expect.poll(async () => (await reports()).map(({ at }) => at).sort()).toEqual([100_000, 99_000]);
  await stop();
});
