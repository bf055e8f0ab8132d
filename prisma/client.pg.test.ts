import { forFile } from '@gw/testing/for-file';
import { createDatabase } from '@gw/testing/prisma/postgres';
import { openWay } from '@gw/testing/prisma/way';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type CopyStatement, type Database, DatabaseError, openDatabase, queryTexts, runOverCopy } from './client.ts';

const postgres = forFile(() => createDatabase('empty'));

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

describe('rows that are copied', () => {
  const run: CopyStatement = {
    table: 'CREATE TEMPORARY TABLE IF NOT EXISTS new_numbers (n int) ON COMMIT DELETE ROWS',
    copy: 'COPY new_numbers (n) FROM STDIN',
    statement: 'INSERT INTO numbers SELECT n FROM new_numbers ON CONFLICT DO NOTHING RETURNING n',
  };
  const add = async (by: Database, text: string) =>
    (await runOverCopy<[{ n: number }[]]>(by, run, Buffer.from(text)))[0];
  let watching: Database;
  const stored = () => watching.$queryRaw`SELECT n FROM numbers ORDER BY n`;
  const active = (query: string) => watching.$queryRaw<{ pid: number }[]>`
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid() AND query LIKE ${`%${query}%`}`;
  let way: Awaited<ReturnType<typeof openWay>>;
  let db: Database;
  beforeAll(async () => {
    watching = openDatabase(postgres.url, { connections: 1 });
    await watching.$executeRaw`CREATE TABLE numbers (n int PRIMARY KEY)`;
    await watching.$executeRaw`CREATE FUNCTION wait_for_negative() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN IF NEW.n < 0 THEN PERFORM pg_sleep(60); END IF; RETURN NEW; END'`;
    await watching.$executeRaw`CREATE TRIGGER wait BEFORE INSERT ON numbers FOR EACH ROW EXECUTE FUNCTION wait_for_negative()`;
  });
  afterAll(() => watching?.$disconnect());
  beforeEach(async () => {
    await watching.$executeRaw`TRUNCATE numbers`;
    way = await openWay(postgres.url);
    db = openDatabase(way.url, { connections: 1, queryTimeoutMs: 15_000, onConnectionLost: () => {} });
  });
  afterEach(async () => {
    await db.$disconnect();
    way.stop();
  });

  test('are those of their statement alone', async () => {
    expect(await add(db, '1\n2\n')).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await add(db, '2\n3\n')).toEqual([{ n: 3 }]);
    expect(await add(db, '')).toEqual([]);
    await expect(add(db, '4\nfour\n')).rejects.toMatchObject({ code: '22P02' });
    expect(await stored()).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  test('are not stored where it takes too long, and the next ones are', async () => {
    const hasty = openDatabase(postgres.url, { connections: 1, queryTimeoutMs: 3000, onConnectionLost: () => {} });
    await expect(add(hasty, '1\n-1\n')).rejects.toThrow(/time(d )?-?out/i);
    expect(await add(hasty, '2\n')).toEqual([{ n: 2 }]);
    expect(await stored()).toEqual([{ n: 2 }]);
    await hasty.$disconnect();
  });

  test.each([
    [
      'Postgres ends',
      async () =>
        void (await watching.$queryRaw`SELECT pg_terminate_backend(${(await active('INTO numbers'))[0]?.pid}::int)`),
    ],
    ['breaks', async () => way.cut()],
  ])('are not stored where their connection %s, and the next ones are', async (_, cut) => {
    const broken = add(db, '1\n-1\n').catch((error: unknown) => error);
    await expect.poll(() => active('INTO numbers'), { timeout: 20_000 }).toHaveLength(1);
    await cut();
    expect(await broken).toBeInstanceOf(Error);
    expect(await add(db, '2\n')).toEqual([{ n: 2 }]);
    await watching.$queryRaw`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'INSERT INTO numbers%' AND state = 'active'`;
    await expect.poll(() => active('INTO numbers'), { timeout: 20_000 }).toEqual([]);
    expect(await stored()).toEqual([{ n: 2 }]);
  });

  test('hold up nobody else with the same ones, if the half of them came and then nothing more', async () => {
    await add(db, '');
    way.swallowAfter(100_000);
    const many = Array.from({ length: 200_000 }, (_, n) => `${n}\n`).join('');
    const held = add(db, many).catch((error: unknown) => error);
    await expect.poll(() => active('COPY new_numbers'), { timeout: 20_000 }).toHaveLength(1);
    expect(await add(watching, '1\n2\n3\n')).toHaveLength(3);
    way.cut();
    expect(await held).toBeInstanceOf(Error);
    expect(await stored()).toHaveLength(3);
  });
});
