import { openDatabase } from '@gw/prisma/client';
import { openRedis } from '@gw/service/redis';
import { openRedisWriter } from '@gw/service/redis-writer';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { isStoreAway } from './store-away.ts';

const log = pino({ level: 'silent' });
const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error: unknown) => error,
  );

test.each(['postgresql://gw@127.0.0.1:1/gw', 'postgresql://gw@/gw?host=/nowhere'])(
  'a Postgres that is away is known by each kind of query: %s',
  async (url) => {
    const db = openDatabase(url);
    const queries = [
      () => db.account.findMany(),
      () => db.$queryRaw`SELECT 1`,
      () => db.$transaction((inside) => inside.account.findMany()),
    ];
    for (const query of queries) expect(isStoreAway(await errorOf(query()))).toBe(true);
    await db.$disconnect();
  },
);

test('so is a Redis that is away, by both clients', async () => {
  const url = 'redis://127.0.0.1:1';
  const redis = openRedis(url, log);
  const writer = openRedisWriter({ url, log, commandTimeoutMs: 100 });
  expect(isStoreAway(await errorOf(redis.ping()))).toBe(true);
  expect(isStoreAway(await errorOf(writer.send(['PING'])))).toBe(true);
  redis.disconnect();
  writer.stop();
});

test.each([
  new TypeError("Cannot read properties of undefined (reading 'id')"),
  Object.assign(new Error('Unique constraint failed'), { code: 'P2002' }),
  Object.assign(new Error('permission denied for table receipts'), { code: '42501' }),
  new Error('WRONGTYPE Operation against a key holding the wrong kind of value'),
  'away',
  null,
])('another fault is one: %s', (error) => {
  expect(isStoreAway(error)).toBe(false);
});

test('what another error was caused by counts', () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  expect(isStoreAway(new Error('The key could not be read.', { cause }))).toBe(true);
});
