/** Checkpoints are sent to a witness that was written from its specification (testing/evidence/witness.ts). */
import { readSettings } from '@gw/contract/internal/environment';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { checkCosignatures } from '@gw/evidence/cosignatures';
import { openAddressGuard } from '@gw/service/address-guard';
import { callAt, entryFrom, ingest } from '@gw/testing/control-plane/calls';
import {
  addresses,
  keepTables,
  ledgerTables,
  silentLog,
  startStores,
  testSeals,
} from '@gw/testing/control-plane/fixtures';
import { cosigner, startWitness, type TestWitness } from '@gw/testing/evidence/witness';
import { forFile } from '@gw/testing/for-file';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readHours } from '../evidence/log-hours.ts';
import { appendReceipts } from './append.ts';
import { type CosignOptions, cosignAll, Rests, registerCosigning } from './cosign.ts';
import { newestCheckpoint } from './tree.ts';
import { readLogWitnesses } from './witnesses.ts';

const key = signingKeyOf('01'.repeat(32));
const accountId = 'acct_demo_audit';
const stores = forFile(startStores);
let putBack: () => Promise<void>;
let clock = new Date();
const now = () => clock;
let witness: TestWitness;
const start = () =>
  startWitness(
    cosigner('witness.example/w1', '0a'.repeat(32)),
    () => key.publicJwk.x,
    () => clock.getTime() / 1000,
  );
beforeAll(async () => {
  putBack = await keepTables(stores, ...ledgerTables);
  witness = await start();
});
afterAll(() => witness.stop());
beforeEach(async () => {
  await putBack();
  await witness.stop();
  witness = await start();
});

async function grow(hour: number, count: number, of = accountId): Promise<void> {
  const at = (minute: number) => `2026-11-20T${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}:00Z`;
  const entries = Array.from({ length: count }, (_, minute) => entryFrom(callAt(at(minute)), { accountId: of }));
  await ingest(stores.db, ...entries);
  clock = new Date(`2026-11-20T${hour + 2}:00:00Z`);
  await appendReceipts({ addresses, db: stores.db, now, key, seals: testSeals });
}

const witnesses = () => readLogWitnesses(readSettings({ GW_LOG_WITNESSES: `${witness.vkey}@${witness.url}/` }));
const options = (): CosignOptions => ({
  db: stores.db,
  guard: openAddressGuard(),
  log: silentLog,
  now,
  witnesses: witnesses(),
});
async function cosigned(): Promise<string[]> {
  const keys = witnesses().map((each) => each.key);
  const checkpoint = await newestCheckpoint(stores.db, accountId);
  const { cosigned: by } = await checkCosignatures(checkpoint, keys);
  return by.map((each) => `${each.witness} ${checkpoint?.tree_size} ${each.at}`);
}

test('each newest checkpoint is cosigned, from the size that the witness has cosigned before', async () => {
  await grow(8, 5);
  await cosignAll(options(), new Rests(options()));
  expect(await cosigned()).toEqual(['witness.example/w1 5 2026-11-20T10:00:00.000Z']);
  // Packs have it too.
  const { checkpoint } = await readHours(stores.db, accountId, null);
  expect(checkpoint).toEqual(await newestCheckpoint(stores.db, accountId));
  await grow(10, 7);
  expect(await cosigned()).toEqual([]);
  await cosignAll(options(), new Rests(options()));
  await cosignAll(options(), new Rests(options()));
  expect(await cosigned()).toEqual(['witness.example/w1 12 2026-11-20T12:00:00.000Z']);
  expect(witness.asked).toEqual([
    { old: 0, size: 5, status: 200 },
    { old: 5, size: 12, status: 200 },
  ]);
});

test('a witness that knows another size is asked from that on', async () => {
  await grow(8, 5);
  await cosignAll(options(), new Rests(options()));
  await stores.empty('receipt_log_cosignatures');
  await grow(10, 7);
  await cosignAll(options(), new Rests(options()));
  expect(witness.asked.map(({ old, status }) => [old, status])).toEqual([
    [0, 200],
    [0, 409],
    [5, 200],
  ]);
  expect(await cosigned()).toHaveLength(1);
});

test.each<[string, TestWitness['answer']]>([
  ['refuses', () => [403, 'no\n']],
  ['is broken', () => [500, '']],
  ['answers rubbish', () => [200, 'rubbish\n']],
  ['signs something else', () => [200, cosigner('witness.example/w1', '0a'.repeat(32)).cosign('x\n', 1)]],
  ['has another key', () => [200, cosigner('witness.example/w1', '0b'.repeat(32)).cosign('x\n', 1)]],
  ['has seen a longer log', () => [409, '900\n']],
  ['names another size each time', () => [409, '3\n']],
])('a witness that %s leaves the checkpoint as it is, and is left alone for a while', async (_, answer) => {
  await grow(8, 5);
  witness.answer = answer;
  const rests = new Rests(options());
  await cosignAll(options(), rests);
  const { length } = witness.asked;
  await cosignAll(options(), rests);
  expect(witness.asked).toHaveLength(length);
  expect(await newestCheckpoint(stores.db, accountId)).toMatchObject({ tree_size: 5 });
  expect(await cosigned()).toEqual([]);
  witness.answer = null;
  clock = new Date(clock.getTime() + 31_000);
  await cosignAll(options(), rests);
  expect(await cosigned()).toHaveLength(1);
});

test('a witness that fails at one log cosigns the others all the same', async () => {
  await grow(8, 5);
  await grow(8, 2, 'acct_demo_enterprise');
  // It begins with the log of the first account, and would come to no other.
  let asked = 0;
  witness.answer = (status, body) => {
    asked += 1;
    return asked === 2 ? [status, body] : [500, ''];
  };
  const rests = new Rests(options());
  const lines = () => stores.db.$queryRaw<unknown[]>`SELECT account_id, tree_size::int FROM receipt_log_cosignatures`;
  await cosignAll(options(), rests);
  expect(await lines()).toEqual([]);
  clock = new Date(clock.getTime() + 31_000);
  await cosignAll(options(), rests);
  expect(await lines()).toEqual([{ account_id: 'acct_demo_enterprise', tree_size: 2 }]);
});

test('the age of what waits is in the metrics', async () => {
  await grow(8, 5);
  const registry = new Registry();
  registerCosigning(registry, options());
  const lag = async () => (await registry.getMetricsAsJSON())[0]?.values;
  expect(await lag()).toMatchObject([{ labels: { witness: 'witness.example/w1' }, value: 0 }]);
  clock = new Date(clock.getTime() + 90_000);
  expect(await lag()).toMatchObject([{ value: 90 }]);
  await cosignAll(options(), new Rests(options()));
  expect(await lag()).toMatchObject([{ value: 0 }]);
});

test('the setting names what is wrong with it', () => {
  for (const text of [
    'x',
    `${witness.vkey}@ftp://x`,
    `${witness.vkey}@http://witness.example`,
    `${witness.vkey}x@https://x`,
  ]) {
    const settings = readSettings({ GW_LOG_WITNESSES: text });
    readLogWitnesses(settings);
    expect(() => settings.finish(), text).toThrow(/GW_LOG_WITNESSES has .* Example: GW_LOG_WITNESSES=/);
  }
});
