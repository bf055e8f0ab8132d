/** Statements that change many keys, accounts or budgets leave a complete record for those who ask what has changed. */
import { forFile } from '@gw/testing/for-file';
import { createDatabase } from '@gw/testing/prisma/postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from './client.ts';
import { keyChanges, keyGeneration } from './find-key.ts';

const database = forFile(() => createDatabase('seeded'));
let owner: pg.Client;
let db: Database;
beforeAll(async () => {
  owner = new pg.Client({ connectionString: database.url });
  await owner.connect();
  db = openDatabase(database.serviceUrl, { connections: 1 });
  await owner.query(
    `INSERT INTO accounts (id, name, tier) SELECT 'acct_' || i, 'x', 'audit' FROM generate_series(1, 4) i`,
  );
  await owner.query(inserted('many', 1, 1500));
});
afterAll(async () => {
  await db?.$disconnect();
  await owner?.end();
});

/** SQL: keys whose public ids are this prefix of four letters and a number of eight digits. */
const inserted = (prefix: string, from: number, to: number, end = '') =>
  `INSERT INTO api_keys (public_id, account_id, name, hash, scopes)
   SELECT '${prefix}' || lpad(i::text, 8, '0'), 'acct_1', 'k', sha256(i::text::bytea), '{}' FROM generate_series(${from}, ${to}) i ${end}`;
const idOf = (prefix: string, n: number) => `${prefix}${String(n).padStart(8, '0')}`;
const ids = (prefix: string, from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => idOf(prefix, from + i));
const keys = (from: number, to: number) => `public_id BETWEEN '${idOf('many', from)}' AND '${idOf('many', to)}'`;

/** The record that the statement has left, and how often it has written the generation. */
async function change(statement: string) {
  const known = await keyGeneration(db);
  await owner.query('BEGIN');
  const bumps = async (): Promise<number> => {
    const counted = await owner.query<{ n: number }>(
      `SELECT n_tup_upd::int AS n FROM pg_stat_xact_user_tables WHERE relname = 'key_generation'`,
    );
    return counted.rows[0]?.n ?? 0;
  };
  const before = await bumps();
  try {
    await owner.query(statement);
    const written = (await bumps()) - before;
    await owner.query('COMMIT');
    const { generation, since } = await keyChanges(db, known);
    return {
      written,
      steps: generation - known,
      publicIds: since && [...since.publicIds].sort(),
      accountIds: since && [...since.accountIds].sort(),
    };
  } finally {
    await owner.query('ROLLBACK');
  }
}

const nothing = { written: 0, steps: 0, publicIds: [], accountIds: [] };
const ofKeys = (publicIds: string[]) => ({ written: 1, steps: publicIds.length, publicIds, accountIds: [] });
const ofAccounts = (...accountIds: string[]) => ({ written: 1, steps: accountIds.length, publicIds: [], accountIds });
const tooMany = (steps: number) => ({ written: 1, steps, publicIds: null, accountIds: null });

test('50,000 keys inserted at once raise the generation once, and are more than is told apart', async () => {
  // A plan that was made for one row and joins each with each would take minutes for as many.
  expect((await change(`UPDATE api_keys SET name = 'a' WHERE ${keys(1, 1)}`)).steps).toBe(1);
  expect(await change(inserted('bulk', 1, 50_000))).toEqual(tooMany(50_000));
  expect(await change(`UPDATE api_keys SET name = 'b' WHERE public_id LIKE 'bulk%'`)).toEqual(tooMany(50_000));
  expect(await change(`DELETE FROM api_keys WHERE public_id LIKE 'bulk%'`)).toEqual(tooMany(50_000));
  expect((await owner.query('SELECT 1 FROM key_changes')).rowCount).toBe(0);
});

test('up to 1,000 keys of one statement are told one by one, whether inserted, changed or deleted', async () => {
  expect(await change(inserted('some', 1, 300))).toEqual(ofKeys(ids('some', 1, 300)));
  expect(await change(`DELETE FROM api_keys WHERE public_id LIKE 'some%'`)).toEqual(ofKeys(ids('some', 1, 300)));
  expect(await change(`UPDATE api_keys SET name = 'c' WHERE ${keys(1, 1000)}`)).toEqual(ofKeys(ids('many', 1, 1000)));
  expect(await change(`UPDATE api_keys SET name = 'd' WHERE ${keys(1, 1001)}`)).toEqual(tooMany(1001));
  // Changes after a bulk change are recorded singly again.
  const one = `UPDATE api_keys SET name = 'e' WHERE ${keys(7, 7)}`;
  expect(await change(one)).toEqual(ofKeys([idOf('many', 7)]));
  expect(
    await change(`INSERT INTO api_keys SELECT * FROM api_keys WHERE ${keys(1, 2)} ON CONFLICT DO NOTHING`),
  ).toEqual(nothing);
});

test('a statement tells of the rows that it really changed, and of none where it changed none', async () => {
  for (const none of [
    `UPDATE api_keys SET name = 'f' WHERE public_id = 'nobody'`,
    `UPDATE api_keys SET name = name WHERE ${keys(1, 20)}`,
    `DELETE FROM api_keys WHERE public_id = 'nobody'`,
    `INSERT INTO api_keys SELECT * FROM api_keys WHERE FALSE`,
    `UPDATE accounts SET name = name`,
    `UPDATE budgets SET amount = amount`,
  ])
    expect(await change(none), none).toEqual(nothing);
  await change(`UPDATE api_keys SET name = 'g' WHERE ${keys(1, 10)}`);
  expect(await change(`UPDATE api_keys SET name = 'g' WHERE ${keys(1, 20)}`)).toEqual(ofKeys(ids('many', 11, 20)));
  const upsert = inserted('many', 1499, 1503, `ON CONFLICT (public_id) DO UPDATE SET name = 'h'`);
  // Two triggers of one statement: of what it inserted, and of what it updated.
  expect(await change(upsert)).toEqual({ ...ofKeys(ids('many', 1499, 1503)), written: 2 });
  const renamed = `UPDATE api_keys SET public_id = 'renamed00000' WHERE ${keys(30, 30)}`;
  expect(await change(renamed)).toEqual(ofKeys([idOf('many', 30), 'renamed00000']));
});

test('hashes that are made again are no changes, but whatever changes with them is', async () => {
  const renewed = 'hash = sha256(hash), pepper_version = pepper_version + 1';
  expect(await change(`UPDATE api_keys SET ${renewed} WHERE ${keys(101, 120)}`)).toEqual(nothing);
  for (const [set, why] of [
    ['hash = sha256(hash)', 'an older pepper'],
    ['hash = sha256(hash), pepper_version = pepper_version - 1', 'a pepper that was exchanged back'],
    [`${renewed}, revoked_at = now()`, 'a revocation'],
    ['hash = NULL, pepper_version = pepper_version + 1', 'a hash that is deleted'],
  ])
    expect(await change(`UPDATE api_keys SET ${set} WHERE ${keys(101, 120)}`), why).toEqual(
      ofKeys(ids('many', 101, 120)),
    );
  const some = `UPDATE api_keys SET hash = sha256('x'), pepper_version = pepper_version + 1,
    project = CASE WHEN ${keys(201, 203)} THEN 'p' END WHERE ${keys(201, 220)}`;
  expect(await change(some)).toEqual(ofKeys(ids('many', 201, 203)));
});

test('accounts are told once each, also for many budgets that change at once', async () => {
  expect(
    await change(`INSERT INTO accounts (id, name, tier) VALUES ('acct_5', 'x', 'audit'), ('acct_6', 'x', 'audit')`),
  ).toEqual(ofAccounts('acct_5', 'acct_6'));
  expect(await change(`DELETE FROM accounts WHERE id = 'acct_6'`)).toEqual(ofAccounts('acct_6'));
  expect(await change(`UPDATE accounts SET state = 'suspended' WHERE id IN ('acct_1', 'acct_2')`)).toEqual(
    ofAccounts('acct_1', 'acct_2'),
  );
  const budgets = `INSERT INTO budgets SELECT 'b' || i, 'acct_' || 1 + i % 2, 'project', 'p' || i, 'tokens', 1, 'soft', 'operator', now()
    FROM generate_series(1, 2000) i`;
  expect(await change(budgets)).toEqual(ofAccounts('acct_1', 'acct_2'));
  expect(await change(`UPDATE budgets SET amount = CASE account_id WHEN 'acct_1' THEN 1 ELSE 2 END`)).toEqual(
    ofAccounts('acct_2'),
  );
  expect(await change(`DELETE FROM budgets WHERE account_id = 'acct_1'`)).toEqual(ofAccounts('acct_1'));
});

test('without the row of the generation nothing changes, neither one key nor many', async () => {
  await owner.query('BEGIN; DELETE FROM key_generation; SAVEPOINT gone');
  for (const many of [1, 2000]) {
    await expect(owner.query(inserted('lost', 1, many)), String(many)).rejects.toThrow('query returned no rows');
    await owner.query('ROLLBACK TO gone');
  }
  await owner.query('ROLLBACK');
});
