import { readFileSync } from 'node:fs';
import { createDatabase, type TestDatabase } from '@gw/testing/prisma/postgres';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Database, openDatabase } from './client.ts';
import { type Migration, migrate, migrationsDirectory, readMigrations } from './migrate.ts';
import { ensurePartitions } from './partitions.ts';

let postgres: TestDatabase;
let sql: pg.Client;
let db: Database;
const quiet = (): void => {};

beforeAll(async () => {
  postgres = await createDatabase('empty');
  sql = new pg.Client({ connectionString: postgres.url });
  await sql.connect();
  db = openDatabase(postgres.url);
}, 60_000);

afterAll(async () => {
  await db?.$disconnect();
  await sql?.end();
  await postgres?.stop();
});

beforeEach(async () => {
  await sql.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
});

const insertReceipt = (id: string, createdAt: string) =>
  sql.query(
    `INSERT INTO receipts (id, version, created_at, account_id, key_id, endpoint, model, tier, status, body,
       content_sha256, seal, seal_key)
     VALUES ($1, 1, $2, 'a', 'k', '/v1/embeddings', 'm', 'proxy', 'complete', '{}', 'd', 's', 1)`,
    [id, createdAt],
  );
const partitionOf = async (id: string): Promise<unknown> =>
  (await sql.query('SELECT tableoid::regclass::text AS name FROM receipts WHERE id = $1', [id])).rows[0]?.name;

test('migrating twice applies every migration once, with the checksum that Prisma computes', async () => {
  const lines: string[] = [];
  await migrate(postgres.url, (line) => lines.push(line));
  await migrate(postgres.url, (line) => lines.push(line));
  const migrations = readMigrations(migrationsDirectory());
  expect(lines).toEqual([...migrations.map((m) => `applied ${m.name}`), 'the database is up to date']);
  const { rows } = await sql.query('SELECT migration_name, checksum FROM _prisma_migrations ORDER BY 1');
  expect(rows).toEqual(migrations.map((m) => ({ migration_name: m.name, checksum: m.checksum })));
});

test('five processes that migrate at once apply every migration once', async () => {
  await Promise.all(Array.from({ length: 5 }, () => migrate(postgres.url, quiet)));
  const { rows } = await sql.query('SELECT count(*)::int AS n FROM _prisma_migrations');
  expect(rows[0].n).toBe(readMigrations(migrationsDirectory()).length);
});

test('an edited migration is refused by name, and nothing is applied', async () => {
  await migrate(postgres.url, quiet);
  const edited = readMigrations(migrationsDirectory()).map((m) => ({ ...m, checksum: 'f'.repeat(64) }));
  const later: Migration = { name: '29990101000000_later', sql: 'CREATE TABLE later ()', checksum: 'a'.repeat(64) };
  await expect(migrate(postgres.url, quiet, [...edited, later])).rejects.toThrow(
    /_init does not match the one that created this database.*remove the data folder/,
  );
  expect((await sql.query("SELECT to_regclass('later') AS t")).rows[0].t).toBeNull();
});

test('a migration that fails leaves neither tables nor a row behind', async () => {
  const broken: Migration = { name: '1_broken', sql: 'CREATE TABLE half (); SELECT 1/0', checksum: '0'.repeat(64) };
  await expect(migrate(postgres.url, quiet, [broken])).rejects.toThrow(/1_broken failed and left nothing behind/);
  expect((await sql.query("SELECT to_regclass('half') AS t")).rows[0].t).toBeNull();
  expect((await sql.query('SELECT count(*)::int AS n FROM _prisma_migrations')).rows[0].n).toBe(0);
});

test('a receipt goes to the partition of its month, and to the default where there is none', async () => {
  await migrate(postgres.url, quiet);
  await ensurePartitions(db, new Date('2031-11-30T23:59:59.999Z'), 2);
  await insertReceipt('november', '2031-11-30T23:59:59.999Z');
  await insertReceipt('december', '2031-12-01T00:00:00.000Z');
  await insertReceipt('far', '2040-01-01T00:00:00.000Z');
  expect(await partitionOf('november')).toBe('receipts_2031_11');
  expect(await partitionOf('december')).toBe('receipts_2031_12');
  expect(await partitionOf('far')).toBe('receipts_default');
});

test('a partition made too late takes over the rows that the default partition holds, and none is lost', async () => {
  await migrate(postgres.url, quiet);
  await insertReceipt('early', '2035-05-15T00:00:00.000Z');
  await insertReceipt('other', '2036-05-15T00:00:00.000Z');
  expect(await ensurePartitions(db, new Date('2035-05-01T00:00:00Z'), 1)).toBe(1);
  expect(await ensurePartitions(db, new Date('2035-05-01T00:00:00Z'), 1)).toBe(0);
  expect(await partitionOf('early')).toBe('receipts_2035_05');
  expect(await partitionOf('other')).toBe('receipts_default');
});

test('the audit log takes entries at the end of their chain alone, and refuses every change of them', async () => {
  await migrate(postgres.url, quiet);
  const zeros = '0'.repeat(64);
  const [first, second] = ['a'.repeat(64), 'b'.repeat(64)];
  const insert = (seq: number, previous: string, hash: string) =>
    sql.query(
      `INSERT INTO audit (chain, seq, at, actor_kind, actor_id, action, target, prev_hash, hash, seal, seal_key)
       VALUES ('operators', $1, now(), 'operator', 'o', 'x', 'y', $2, $3, $3, 1)`,
      [seq, previous, hash],
    );
  await insert(1, zeros, first);
  for (const [seq, previous] of [
    [1, zeros],
    [2, zeros],
    [3, first],
  ] as const)
    await expect(insert(seq, previous, second)).rejects.toThrow('does not follow');
  await insert(2, first, second);
  await expect(insert(2, first, second)).rejects.toThrow('does not follow');
  for (const change of ["UPDATE audit SET action = 'z'", 'DELETE FROM audit', 'TRUNCATE audit'])
    await expect(sql.query(change)).rejects.toThrow('append-only');
});

test('a change of the catalogue raises its version, an update that changes nothing does not', async () => {
  await migrate(postgres.url, quiet);
  const version = async (): Promise<number> =>
    (await sql.query('SELECT version FROM catalogue_version')).rows[0].version;
  const before = await version();
  await sql.query(`INSERT INTO regions VALUES ('r', 'R', 'C', 'Z', 'active', 0)`);
  expect(await version()).toBe(before + 1);
  await sql.query(`UPDATE regions SET name = 'R'`);
  expect(await version()).toBe(before + 1);
  await sql.query(`UPDATE regions SET status = 'degraded'`);
  expect(await version()).toBe(before + 2);
});

test('a migration gives up where somebody holds the table, says so, and is tried again', async () => {
  await migrate(postgres.url, quiet);
  const locking = "SET LOCAL lock_timeout = '100ms'; ALTER TABLE receipts ADD COLUMN later INTEGER";
  const later: Migration = { name: '29990101000000_later', sql: locking, checksum: 'a'.repeat(64) };
  const all = [...readMigrations(migrationsDirectory()), later];
  await sql.query('BEGIN');
  await sql.query('SELECT FROM receipts');
  await expect(migrate(postgres.url, quiet, all)).rejects.toThrow(/lock timeout.*try again/);
  await sql.query('COMMIT');
  await migrate(postgres.url, quiet, all);
  await sql.query('SELECT later FROM receipts');
});

test('every model of the Prisma schema can be read from the migrated database, column by column', async () => {
  await migrate(postgres.url, quiet);
  const schema = readFileSync(new URL('./schema.prisma', import.meta.url), 'utf8');
  const declared = tablesOf(schema);
  const { rows } = await sql.query<{ table_name: string; column_name: string; nullable: boolean }>(
    `SELECT c.table_name, c.column_name, c.is_nullable = 'YES' AS nullable FROM information_schema.columns c
     WHERE table_schema = 'public' AND table_name NOT LIKE 'receipts\\_%' AND table_name <> '_prisma_migrations'`,
  );
  const actual = rows.map((row) => `${row.table_name}.${row.column_name}${row.nullable ? '?' : ''}`).sort();
  expect(actual).toEqual(declared);
  await Promise.all([db.account.findMany(), db.operator.findMany(), db.apiKey.findMany(), db.model.findMany()]);
  await Promise.all([
    db.keyGeneration.findMany(),
    db.keyChange.findMany(),
    db.catalogueVersion.findMany(),
    db.auditEntry.findMany(),
  ]);
  await Promise.all([db.region.findMany(), db.provider.findMany(), db.deployment.findMany(), db.receipt.findMany()]);
  await Promise.all([db.budget.findMany(), db.budgetEstimate.findMany()]);
  await Promise.all([db.budgetWebhook.findMany(), db.budgetEvent.findMany()]);
  await Promise.all([db.gridReading.findMany(), db.publishedGrid.findMany()]);
  await Promise.all([db.policyVersion.findMany(), db.policyExemption.findMany()]);
  await Promise.all([db.onboarding.findMany(), db.onboardingStep.findMany(), db.organisationAdmin.findMany()]);
  await db.accountIssuer.findMany();
  await Promise.all([
    db.session.findMany(),
    db.operatorToken.findMany(),
    db.keyUse.findMany(),
    db.auditHead.findMany(),
  ]);
});

/** `table.column`, with a `?` if it is nullable, as the schema declares them. */
function tablesOf(schema: string): string[] {
  const columns: string[] = [];
  for (const [, body = ''] of schema.matchAll(/^model \w+ \{\n(.*?)^\}/gms)) {
    const table = /@@map\("(\w+)"\)/.exec(body)?.[1];
    for (const line of body.split('\n')) {
      const field = /^ {2}(\w+)\s+(\w+)(\?|\[\])?/.exec(line);
      if (
        field === null ||
        line.includes('@relation') ||
        /\s(ApiKey|Budget|Deployment|OrganisationAdmin|OperatorToken|PolicyExemption)\[\]|\s(AccountIssuer|Onboarding)\?/.test(
          line,
        )
      )
        continue;
      const column = /@map\("(\w+)"\)/.exec(line)?.[1] ?? field[1];
      columns.push(`${table}.${column}${field[3] === '?' ? '?' : ''}`);
    }
  }
  return columns.sort();
}
