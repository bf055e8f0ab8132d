/**
 * Tells the time by the clock of Redis, for leases that other processes judge by it: the clocks of machines differ, and may step.
 *
 * Redis is asked at each connection and every 10 s; in between, the monotonic clock of this process counts on. Before the first answer it is
 * the machine's time.
 */
import { redisTime } from '@gw/service/redis';
import type { Redis } from 'ioredis';

export interface StoreClock {
  /** Milliseconds since 1970. */
  now(): number;
  stop(): void;
}

const askEveryMs = 10_000;

export function openStoreClock(redis: Redis): StoreClock {
  let atZero = Date.now() - performance.now();
  const ask = async (): Promise<void> => {
    if (redis.status !== 'ready') return;
    const asked = performance.now();
    const theirs = await redisTime(redis);
    // The answer is assumed to come from the middle of the round trip.
    atZero = theirs - (asked + performance.now()) / 2;
  };
  const askQuietly = (): void => void ask().catch(() => undefined);
  redis.on('ready', askQuietly);
  const timer = setInterval(askQuietly, askEveryMs);
  askQuietly();
  return {
    now: () => Math.round(atZero + performance.now()),
    stop: () => {
      clearInterval(timer);
      redis.off('ready', askQuietly);
    },
  };
}
