/**
 * The time by the clock of Redis, for leases that others judge by it: the clocks of machines differ, and may step.
 *
 * It is asked at each connection and every 10 s, and goes on by this process's steady clock in between; before the first
 * answer it is the machine's own.
 */
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
    const [seconds = 0, micros = 0] = await redis.time();
    // Half of the way belongs to the answer.
    atZero = Number(seconds) * 1000 + Number(micros) / 1000 - (asked + performance.now()) / 2;
  };
  const askAnyhow = (): void => void ask().catch(() => undefined);
  redis.on('ready', askAnyhow);
  const timer = setInterval(askAnyhow, askEveryMs);
  askAnyhow();
  return {
    now: () => Math.round(atZero + performance.now()),
    stop: () => {
      clearInterval(timer);
      redis.off('ready', askAnyhow);
    },
  };
}
