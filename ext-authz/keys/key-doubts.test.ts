import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { type KeyDoubts, watchDoubts } from './key-doubts.ts';

/** Redis knows generation 50, and which key came with each of the last ones. */
function openWatch() {
  const changes = [46, 47, 48, 49, 50].map((generation) => ({ generation, name: `key-${generation}` }));
  const redis = {
    mget: async () => ['50', null],
    zrange: async () => [],
    zrangebyscore: async (_: string, after: string) =>
      changes.filter(({ generation }) => generation > Number(after.slice(1))).map(({ name }) => name),
  } as unknown as Redis;
  const log = { error: () => {}, info: () => {} } as unknown as Logger;
  const told: (readonly string[] | null)[] = [];
  const onChange = (doubts: KeyDoubts | null) => void told.push(doubts && [...doubts.changed]);
  return { told, watch: watchDoubts({ redis, log, onChange }) };
}

test('what was lost stays in doubt while new changes raise the generation again', async () => {
  const { told, watch } = openWatch();
  for (const generation of [50, 48, 49, null, 47, 49]) await watch.ask(Promise.resolve(generation));
  expect(told).toEqual([
    ['key-49', 'key-50'],
    ['key-48', 'key-49', 'key-50'],
  ]);
  expect(watch.isInDoubt()).toBe(true);
});

test('nothing is in doubt any more when Postgres has all of it again', async () => {
  const { told, watch } = openWatch();
  for (const generation of [50, 48, 50]) await watch.ask(Promise.resolve(generation));
  expect(told).toEqual([['key-49', 'key-50'], null]);
  expect(watch.isInDoubt()).toBe(false);
});
