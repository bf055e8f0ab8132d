/** Rows without a seal, keys that follow each other, and what a thief of the database could try with the two. */

import { hourMs } from '@gw/contract/internal/durations';
import type { KeyRing } from '@gw/contract/internal/key-ring';
import { entryOf, receiptIdAt, type Stores, silentLog, startStores } from '@gw/testing/control-plane/fixtures';
import { storeEntries } from '@gw/testing/control-plane/store-entries';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { storedColumns } from '../receipts/read-rows.ts';
import type { LedgerRow } from '../receipts/seal.ts';
import { openLedgerSeals } from './open-seals.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
}, 120_000);
afterAll(() => stores?.stop());
beforeEach(() => stores.empty('receipts', 'integrity_faults'));

const key = (id: number) => ({ id, secret: Buffer.alloc(32, id) });
const firstKey: KeyRing = { current: key(1), others: [] };
const began = new Date('2026-11-21T09:00:00.000Z');
const open = (keys = firstKey) => openLedgerSeals({ db: stores.db, keys, log: silentLog });

async function store(seals: ReturnType<typeof open>, at = new Date()): Promise<string> {
  const { receipt, ...entry } = entryOf({ id: receiptIdAt(at) });
  await storeEntries(stores.db, [{ ...entry, receipt }], seals);
  return receipt.id;
}
const rows = () => stores.db.$queryRaw<LedgerRow[]>`SELECT ${storedColumns} FROM receipts r ORDER BY id`;
const faults = async (seals: ReturnType<typeof open>) => seals.check(await rows());
const hour = (n: number) => new Date(began.getTime() + n * hourMs);

test('nothing is stored without a seal', async () => {
  const statement = (columns: string, values: string) =>
    `INSERT INTO receipts (id, version, created_at, account_id, key_id, endpoint, model, tier, status, body${columns})
     VALUES ('r', 1, '2020-01-15', 'a', 'k', '/v1/embeddings', 'm', 'proxy', 'complete', '{}'${values})`;
  for (const [columns, values] of [
    ['', ''],
    [', seal, seal_key', `, 's', 1`],
    [', content_sha256, seal', `, 'd', 's'`],
  ] as const)
    await expect(stores.db.$executeRawUnsafe(statement(columns, values))).rejects.toThrow('not-null');
  expect(await stores.db.receipt.count()).toBe(0);
});

test('an older key verifies what it has sealed, a new one seals what comes; without the older one nothing of it passes', async () => {
  await store(open(), hour(1));
  const both: KeyRing = { current: key(2), others: [key(1)] };
  await store(open(both), hour(2));
  expect(await faults(open(both))).toEqual([null, null]);
  expect((await rows()).map(({ seal_key }) => seal_key)).toEqual([1, 2]);
  expect(await faults(open({ current: key(2), others: [] }))).toEqual(['unknown key', null]);
  const other = { current: key(2), others: [{ id: 1, secret: Buffer.alloc(32, 5) }] };
  expect(await faults(open(other))).toEqual(['forged', null]);
});

test('where the owner has stripped the seals, nothing passes', async () => {
  for (const at of [hour(1), hour(2)]) await store(open(), at);
  for (const column of ['seal', 'seal_key', 'content_sha256']) {
    await stores.tamper(`ALTER TABLE receipts ALTER COLUMN ${column} DROP NOT NULL`);
    await stores.tamper(`UPDATE receipts SET ${column} = NULL`);
    expect(await faults(open())).toEqual(['unsealed', 'unsealed']);
  }
});
