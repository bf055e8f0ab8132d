import { createDatabase, type TestDatabase } from '@gw/testing/prisma/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DatabaseError, openDatabase, queryTexts } from './client.ts';

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

test('a statement with long texts says what Postgres refuses, and outlives a connection that broke before Prisma had any', async () => {
  const lost: Error[] = [];
  const db = openDatabase(postgres.url, { connections: 1, onConnectionLost: (error) => lost.push(error) });
  const text = 'Köln 😀 '.repeat(100_000);
  const asked = (value: string) =>
    queryTexts<{ length: number; pid: number }>(
      db,
      `SELECT length($1::json ->> 'text')::int AS length, pg_backend_pid() AS pid`,
      [Buffer.from(value)],
    );
  const refused = await asked('{').catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(DatabaseError);
  expect(refused).toMatchObject({ code: '22P02' });
  const [first] = await asked(JSON.stringify({ text }));
  expect(first?.length).toBe([...text].length);

  const other = openDatabase(postgres.url, { connections: 1 });
  await other.$queryRaw`SELECT pg_terminate_backend(${first?.pid}::int)`;
  await expect.poll(() => lost.length, { timeout: 20_000 }).toBe(1);
  const [second] = await asked('{"text":"x"}');
  expect(second?.length).toBe(1);
  expect(second?.pid).not.toBe(first?.pid);
  await Promise.all([db.$connect().then(() => db.$disconnect()), other.$disconnect()]);
  await expect(asked('{}')).rejects.toThrow();
});
