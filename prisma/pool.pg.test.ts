import { setTimeout as delay } from 'node:timers/promises';
import { forFile } from '@gw/testing/for-file';
import { createDatabase } from '@gw/testing/prisma/postgres';
import { openWay, type Way } from '@gw/testing/prisma/way';
import pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase, runOverCopy } from './client.ts';
import { migrate } from './migrate.ts';
import { statementTimeoutMs } from './roles.ts';
import { type OpenStatements, openStatements } from './statements.ts';

const postgres = forFile(() => createDatabase('migrated'));
const queryTimeoutMs = 20_000;
/** The session of a role that was given settings in this database. */
const given = async (role: string, settings: string): Promise<void> => {
  const owner = new pg.Client({ connectionString: postgres.url });
  await owner.connect();
  const { rows } = await owner.query<{ name: string }>('SELECT current_database() AS name');
  await owner.query(`ALTER ROLE gw_${role} IN DATABASE ${rows[0]?.name} SET ${settings}`);
  await owner.end();
};

const open: { stop: () => unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.stop();
});
async function sessions(role: 'ledger' | 'reader', how: Way): Promise<OpenStatements> {
  const way = await openWay(postgres.as(role), how);
  const statements = openStatements(way.url, { connections: 2, queryTimeoutMs });
  open.push(way, { stop: () => statements.close() });
  return statements;
}
const settings = (by: OpenStatements) => by.$queryRaw`
  SELECT current_setting('TimeZone') AS zone, current_setting('statement_timeout') AS patience`;

describe('a role in another time zone', () => {
  beforeAll(() => given('ledger', `timezone = 'Asia/Kolkata'`));

  test('has UTC in its sessions, and its statements end', async () => {
    const patience = `${statementTimeoutMs(queryTimeoutMs) / 1000}s`;
    expect(await settings(await sessions('ledger', {}))).toEqual([{ zone: 'UTC', patience }]);
  });

  test('is refused behind what drops the time zone, with a sentence that says what to do', async () => {
    const statements = await sessions('ledger', { isPooler: true, dropsZone: true });
    await expect(settings(statements)).rejects.toThrow(
      `Postgres answers in the time zone Asia/Kolkata, although UTC was asked for, so a pooler in between has dropped that. Let it pass on the startup parameter TimeZone, or run: ALTER ROLE "gw_ledger" SET timezone = 'UTC'`,
    );
  });
});

describe('behind a pooler', () => {
  beforeEach(() => given('reader', 'statement_timeout = 15000'));

  test('a session has the patience of its role, and nothing of ours stays with the next one', async () => {
    expect(await settings(await sessions('reader', { isPooler: true }))).toEqual([{ zone: 'UTC', patience: '15s' }]);
  });

  test.each(['0', '21000'])('a role whose statements may take %s ms is refused', async (patience) => {
    await given('reader', `statement_timeout = ${patience}`);
    await expect(settings(await sessions('reader', { isPooler: true }))).rejects.toThrow(
      'Run the migration again, or: ALTER ROLE "gw_reader" SET statement_timeout = 19000',
    );
  });

  test('that has no connection free, a new session is given up long before a statement would be', async () => {
    const statements = await sessions('reader', { isPooler: true, isSaturated: true });
    const given = settings(statements).catch(String);
    expect(await Promise.race([given, delay(12_000, 'still waits')])).toContain('timeout');
  });

  test('rows are copied in whatever session has the transaction', async () => {
    const db = openDatabase(postgres.url, { connections: 1 });
    open.push({ stop: () => db.$disconnect() });
    const run = {
      table: 'CREATE TEMPORARY TABLE IF NOT EXISTS copied (n int) ON COMMIT DELETE ROWS',
      copy: 'COPY copied FROM STDIN',
      statement: 'SELECT n FROM copied',
    };
    const copied = () => runOverCopy<[{ n: number }[]]>(db, run, Buffer.from('7\n'));
    await copied();
    // As another session would be.
    await db.$executeRaw`DROP TABLE copied`;
    expect((await copied())[0]).toEqual([{ n: 7 }]);
  });

  test('a migration is refused, since its lock is of a session', async () => {
    const way = await openWay(postgres.url, { isPooler: true });
    open.push(way);
    await expect(migrate(way.url, () => {})).rejects.toThrow('Give it the address of Postgres itself');
  });
});
