/** A machine whose clock is wrong, beside a real Valkey. */
import { openRedis, untilReady } from '@gw/service/redis';
import { emptyValkey } from '@gw/testing/valkey';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openStoreClock, type StoreClock } from './store-clock.ts';

const hourMs = 3_600_000;
let redis: Redis;
let clock: StoreClock;

beforeEach(async () => {
  redis = openRedis(await emptyValkey(), pino({ level: 'silent' }));
});
afterEach(() => {
  vi.useRealTimers();
  clock.stop();
  redis.disconnect();
});

test('is the clock of Valkey, however wrong that of the machine is, and whatever that does later', async () => {
  const aheadMs = 3 * hourMs;
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + aheadMs });
  clock = openStoreClock(redis);
  expect(Math.abs(clock.now() - Date.now()), 'before anything is known').toBeLessThan(hourMs);
  await untilReady(redis, 5000);
  const away = async () => Math.abs(clock.now() - Number((await redis.time())[0]) * 1000);
  await expect.poll(away).toBeLessThan(hourMs);
  vi.setSystemTime(Date.now() - 2 * aheadMs);
  expect(await away()).toBeLessThan(hourMs);
});
