import { setTimeout as delay } from 'node:timers/promises';
import type { FoundKey } from '@gw/prisma/find-key';
import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { openKeyNotes } from './key-notes.ts';

/** Takes what is flushed, or is away; `exec` says when it answers. */
function redisThat(exec: () => Promise<unknown>) {
  const counters: string[] = [];
  const pipeline = {
    hincrby: (_key: string, counter: string, count: number) => void counters.push(`${counter} ${count}`),
  };
  const chain: object = new Proxy(pipeline, {
    get: (target, name) =>
      name === 'exec'
        ? exec
        : (...args: [string, string, number]) => {
            if (name === 'hincrby') target.hincrby(...args);
            return chain;
          },
  });
  return { redis: { multi: () => chain } as unknown as Redis, counters };
}

const keyOf = (i: number): FoundKey => ({ publicId: `key${i}` }) as FoundKey;

test('what is put back after a flush that failed is bounded like what is noted, and nothing of it is lost', async () => {
  let away = true;
  const { redis, counters } = redisThat(async () => {
    await delay(1);
    if (away) throw new Error('away');
  });
  const notes = openKeyNotes({ redis, now: () => 0 });
  const capacity = 50_000;
  const fill = (from: number) => {
    for (let i = from; i < from + capacity; i += 1) notes.failed(keyOf(i), 'revoked_api_key');
  };
  fill(0);
  const flushing = notes.flush();
  fill(capacity);
  await flushing;
  away = false;
  counters.length = 0;
  await notes.flush();
  expect(counters).toHaveLength(capacity + 1);
  expect(counters.at(-1)).toBe(`- uncounted ${capacity}`);
});
