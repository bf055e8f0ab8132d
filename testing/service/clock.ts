/** The scripts on a clock that a test sets: in place of Valkey's own they read a key. */
import type { Redis } from 'ioredis';

const clockKey = 'clock-of-the-test';

export function onTestClock(script: string): string {
  const asked = "redis.call('TIME')";
  if (!script.includes(asked)) throw new Error('The script does not ask for the time.');
  return script.replace(asked, `redis.call('HMGET', '${clockKey}', 's', 'us')`);
}

export const setTestClock = (redis: Redis, ms: number): Promise<unknown> =>
  redis.hset(clockKey, { s: Math.floor(ms / 1000), us: (ms % 1000) * 1000 });
