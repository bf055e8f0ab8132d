/** A database that holds receipts of a release without seals, brought up to date. */
import { call } from '@gw/methodology/internals/testdata/facts';
import { type Database, openDatabase } from '@gw/prisma/client';
import { migrate, migrationsDirectory, readMigrations } from '@gw/prisma/internals/migrate';
import { entryOf, ledgerKeys, silentLog } from '@gw/testing/control-plane/fixtures';
import { createDatabase, type TestDatabase } from '@gw/testing/prisma/postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { storedColumns } from '../receipts/read-rows.ts';
import type { LedgerRow, Seal } from '../receipts/seal.ts';
import { supersede } from '../receipts/supersede.ts';
import { checkPage } from './check-receipts.ts';
import { openLedgerSeals } from './open-seals.ts';

let postgres: TestDatabase;
let owner: pg.Client;
let db: Database;
beforeAll(async () => {
  postgres = await createDatabase('empty');
  owner = new pg.Client({ connectionString: postgres.url });
  await owner.connect();
}, 60_000);
afterAll(async () => {
  await db?.$disconnect();
  await owner?.end();
  await postgres?.stop();
});

const { receipt } = entryOf();
const insert = (client: pg.Client | Database, version: number): Promise<unknown> => {
  const { completion_tokens, created_at, id, model, prompt_tokens, region, status, tier, energy_wh, carbon_g } =
    receipt;
  const body = JSON.stringify({ ...receipt, version });
  const text = `INSERT INTO receipts (id, version, created_at, account_id, key_id, endpoint, model, region, tier, status,
      prompt_tokens, completion_tokens, energy_wh, carbon_g, body)
    VALUES ('${id}', ${version}, '${created_at}', 'acct_old', 'k', '/v1/chat/completions', '${model}', '${region}', '${tier}',
      '${status}', ${prompt_tokens}, ${completion_tokens}, ${energy_wh}, ${carbon_g}, '${body}')`;
  return client instanceof pg.Client ? client.query(text) : client.$executeRawUnsafe(text);
};

test('the migration gives up where somebody holds the ledger, says so, and is tried again', async () => {
  const all = readMigrations(migrationsDirectory());
  const at = all.findIndex(({ name }) => name.endsWith('_ledger'));
  await migrate(postgres.url, () => {}, all.slice(0, at));
  await insert(owner, 1);
  await owner.query('BEGIN');
  await owner.query('SELECT FROM receipts');
  await expect(postgres.migrate()).rejects.toThrow(/lock timeout.*try again/);
  await owner.query('COMMIT');
  await postgres.migrate();
  db = openDatabase(postgres.serviceUrl, { connections: 2 });
}, 60_000);

test('a receipt from before is genuine, gets its next version, and the check finds no fault; a later one needs a seal', async () => {
  const open = (sealedSince: Date | null) => openLedgerSeals({ db, keys: ledgerKeys, sealedSince, log: silentLog });
  const seals = open(new Date());
  const rows = await db.$queryRaw<(LedgerRow & Seal)[]>`SELECT ${storedColumns} FROM receipts r`;
  expect(rows).toMatchObject([{ id: receipt.id, version: 1, seal: null }]);
  expect(await seals.check(rows)).toEqual([null]);
  const { id: _, ...numbers } = receipt;
  const made = await supersede(db, [{ current: receipt as never, numbers: numbers as never, facts: call }], seals);
  expect([...made]).toEqual([receipt.id]);
  const page = await checkPage({ db, log: silentLog, seals }, { id: '', version: 0 });
  expect(page).toMatchObject({ checked: 2, faults: [] });
  await expect(insert(db, 3)).rejects.toThrow('without a seal');
  await expect(insert(owner, 3)).rejects.toThrow('without a seal');
  expect(await open(null).check(rows)).toEqual(['unsealed']);
});
