/** Rows from before the seals, keys that follow each other, and what a thief of the database could try with the two. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { entryOf, receiptIdAt, type Stores, silentLog, startStores } from '../fixtures-for-tests.ts';
import { parseEntry } from '../receipts/entry-row.ts';
import type { LedgerKeys, LedgerRow } from '../receipts/seal.ts';
import { storedColumns } from '../receipts/sealed-rows.ts';
import { insertReceipts } from '../receipts/store-batch.ts';
import { openLedgerSeals } from './open-seals.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
}, 120_000);
afterAll(() => stores?.stop());
beforeEach(() => stores.empty('receipts', 'ledger_epoch', 'integrity_faults'));

const key = (id: number) => ({ id, secret: Buffer.alloc(32, id) });
const firstKey: LedgerKeys = { current: key(1), others: [] };
const began = new Date('2026-11-21T09:00:00.000Z');
const open = (keys = firstKey, now = began) => openLedgerSeals({ db: stores.db, keys, now: () => now, log: silentLog });

async function store(seals: ReturnType<typeof open>, at = new Date()): Promise<string> {
  const { receipt, ...entry } = entryOf({ id: receiptIdAt(at) });
  const parsed = parseEntry(JSON.stringify({ ...entry, receipt }));
  if ('poison' in parsed) throw new Error(parsed.poison);
  await insertReceipts(stores.db, [parsed.row], seals);
  return receipt.id;
}
const rows = () => stores.db.$queryRaw<LedgerRow[]>`SELECT ${storedColumns} FROM receipts r ORDER BY id`;
const faults = async (seals: ReturnType<typeof open>) => seals.check(await rows());
const unseal = (where = 'TRUE') =>
  stores.tamper(`UPDATE receipts SET seal = NULL, seal_key = NULL, content_sha256 = NULL WHERE ${where}`);
const hour = (n: number) => new Date(began.getTime() + n * 3_600_000);

test('a receipt from before the seals passes without one, a later one does not', async () => {
  await store(open(), hour(-1));
  await store(open(), hour(1));
  await unseal();
  expect(await faults(open())).toEqual([null, 'unsealed']);
  // Another instance that starts later finds the time that was written first.
  expect(await faults(open(firstKey, hour(2)))).toEqual([null, 'unsealed']);
});

test.each([
  ['is put later', `UPDATE ledger_epoch SET sealed_since = '2027-01-01'`],
  ['is put later by a made seal', `UPDATE ledger_epoch SET sealed_since = '2027-01-01', seal = repeat('0', 64)`],
  ['is deleted', 'DELETE FROM ledger_epoch'],
])('where the time since when all is sealed %s, nothing passes without a seal', async (_, statement) => {
  await store(open(), hour(-1));
  const kept = await store(open(), hour(1));
  await unseal(`id <> '${kept}'`);
  await stores.tamper(statement);
  expect(await faults(open(firstKey, hour(3)))).toEqual(['unsealed', null]);
});

test('an older key verifies what it has sealed, a new one seals what comes; without the older one nothing of it passes', async () => {
  await store(open(), hour(1));
  const both: LedgerKeys = { current: key(2), others: [key(1)] };
  await store(open(both), hour(2));
  expect(await faults(open(both))).toEqual([null, null]);
  expect((await rows()).map(({ seal_key }) => seal_key)).toEqual([1, 2]);
  expect(await faults(open({ current: key(2), others: [] }))).toEqual(['unknown key', null]);
  const other = { current: key(2), others: [{ id: 1, secret: Buffer.alloc(32, 5) }] };
  expect(await faults(open(other))).toEqual(['forged', null]);
});

test('nothing is sealed while it can not be written since when', async () => {
  const seals = open();
  await stores.postgres.kill();
  await expect(seals.seal([{} as never])).rejects.toThrow();
  await stores.postgres.start();
  await store(seals, hour(1));
  expect(await faults(open())).toEqual([null]);
  expect(await stores.db.ledgerEpoch.findMany()).toMatchObject([{ sealedSince: began, sealKey: 1 }]);
}, 30_000);
