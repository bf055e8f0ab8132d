import { createDatabase, type TestDatabase } from '@gw/testing/prisma/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from './client.ts';

let postgres: TestDatabase;
beforeAll(async () => {
  postgres = await createDatabase('empty');
}, 60_000);
afterAll(() => postgres?.stop());

test('a query that takes too long fails, and the next one gets an answer', async () => {
  const db = openDatabase(postgres.url, { connections: 1, queryTimeoutMs: 200, onConnectionLost: () => {} });
  await expect(db.$queryRaw`SELECT 1 FROM pg_sleep(20)`).rejects.toThrow();
  expect(await db.$queryRaw`SELECT 2 AS two`).toEqual([{ two: 2 }]);
  await db.$disconnect();
});

test('Postgres itself ends what takes too long, so that nothing goes on behind the back of who gave it up', async () => {
  const db = openDatabase(postgres.url, { connections: 1, queryTimeoutMs: 400 });
  const watching = openDatabase(postgres.url, { connections: 1 });
  await watching.$executeRaw`CREATE TABLE slow_writes (n int)`;
  const slow = db.$executeRaw`INSERT INTO slow_writes SELECT 1 FROM pg_sleep(60)`;
  await expect(slow).rejects.toThrow(/time(d )?-?out/i);
  // On a busy machine the error of Postgres may come after we gave up.
  const running = () => watching.$queryRaw`
    SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE '%INTO slow_writes%' AND pid <> pg_backend_pid()`;
  await expect.poll(running, { timeout: 20_000 }).toEqual([]);
  expect(await watching.$queryRaw`SELECT * FROM slow_writes`).toEqual([]);
  // Without a limit there is none.
  expect(await watching.$queryRaw`SHOW statement_timeout`).toEqual([{ statement_timeout: '0' }]);
  await Promise.all([db.$disconnect(), watching.$disconnect()]);
});
