import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createDatabase, type TestDatabase } from '@gw/testing/prisma/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyText, type Database, DatabaseError, openDatabase, queryTexts } from './client.ts';

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

test('a copy that takes too long, or whose connection breaks, fails and stores nothing, and the next one goes on', async () => {
  const watching = openDatabase(postgres.url, { connections: 1 });
  await watching.$executeRaw`CREATE TABLE slow_copies (n int)`;
  await watching.$executeRaw`CREATE FUNCTION wait_for_negative() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN IF NEW.n < 0 THEN PERFORM pg_sleep(60); END IF; RETURN NEW; END'`;
  await watching.$executeRaw`CREATE TRIGGER wait BEFORE INSERT ON slow_copies FOR EACH ROW EXECUTE FUNCTION wait_for_negative()`;
  const stored = () => watching.$queryRaw`SELECT n FROM slow_copies ORDER BY n`;
  const active = () => watching.$queryRaw<{ pid: number }[]>`
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'active' AND query LIKE 'COPY slow_copies%'`;
  const way = await openWay(postgres.url);
  const db = openDatabase(way.url, { connections: 1, queryTimeoutMs: 5000, onConnectionLost: () => {} });
  const hasty = openDatabase(postgres.url, { connections: 1, queryTimeoutMs: 500, onConnectionLost: () => {} });
  const copy = (by: Database, text: string) => copyText(by, 'COPY slow_copies (n) FROM STDIN', Buffer.from(text));

  await expect(copy(hasty, '1\n-1\n')).rejects.toThrow(/time(d )?-?out/i);
  await copy(hasty, '2\n');
  const breaks = [
    async () => void (await watching.$queryRaw`SELECT pg_terminate_backend(${(await active())[0]?.pid}::int)`),
    async () => way.cut(),
  ];
  for (const [at, cut] of breaks.entries()) {
    const broken = copy(db, '1\n-1\n').catch((error: unknown) => error);
    await expect.poll(active, { timeout: 20_000 }).toHaveLength(1);
    await cut();
    expect(await broken).toBeInstanceOf(Error);
    await copy(db, `${3 + at}\n`);
  }
  await expect.poll(active, { timeout: 20_000 }).toEqual([]);
  expect(await stored()).toEqual([{ n: 2 }, { n: 3 }, { n: 4 }]);
  await Promise.all([db.$disconnect(), hasty.$disconnect(), watching.$disconnect()]);
  way.stop();
});

/** A way to Postgres, of which `cut` ends the connections as a network does: without a word. */
async function openWay(url: string): Promise<{ url: string; cut(): void; stop(): void }> {
  const to = new URL(url);
  const directory = to.searchParams.get('host');
  const port = Number(to.port || 5432);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const there = directory ? connect(`${directory}/.s.PGSQL.${port}`) : connect(port, to.hostname);
    sockets.add(client.on('close', () => sockets.delete(client) && there.destroy()));
    for (const socket of [client, there]) socket.on('error', () => undefined);
    client.pipe(there).pipe(client);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  to.searchParams.delete('host');
  to.hostname = '127.0.0.1';
  to.port = String((server.address() as AddressInfo).port);
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: to.href,
    cut,
    stop: () => {
      cut();
      server.close();
    },
  };
}
