/** What whoever kept a checkpoint finds in the next pack, if somebody with the database has worked on the ledger since. */
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { canonicalText } from '@gw/contract/internal/ledger-entry';
import { checkCheckpoint } from '@gw/evidence/checkpoint';
import { isConsistent, isIncluded, leafHash } from '@gw/evidence/merkle';
import { verifyPack } from '@gw/evidence/verify';
import { identified, startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { callAt, type Entry, entryFrom } from '@gw/testing/control-plane/calls';
import { testSeals } from '@gw/testing/control-plane/fixtures';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { checkPage } from '../integrity/check-receipts.ts';
import { appendReceipts } from '../log/append.ts';

let running: TestApp;
let clock = new Date('2026-11-21T12:00:00Z');
beforeAll(async () => {
  running = await startTestApp(() => clock);
}, 120_000);
afterAll(() => running?.stop());

const key = signingKeyOf('e1'.repeat(32));
const trust = { thumbprint: key.publicJwk.kid };
const accountId = 'acct_proven';
const day = { from: '2026-11-20', to: '2026-11-22' };
const at = (minute: number) => new Date(Date.parse('2026-11-20T10:00:00Z') + minute * 60_000).toISOString();
const entry = (minute: number): Entry => entryFrom(callAt(at(minute)), { accountId });
const log = () => appendReceipts({ db: running.stores.db, now: () => clock, key, seals: testSeals });
const urnOf = ({ receipt }: Entry, version = 1) => `urn:gw:receipt:${receipt.id}:${version}`;

async function packOf(body: object = {}) {
  const reply = await running.app.inject({
    method: 'POST',
    url: '/v1/gw/evidence-pack',
    headers: identified({ 'x-gw-account-id': accountId, 'x-gw-scopes': 'gw:export' }),
    payload: { ...day, ...body },
  });
  expect(reply.statusCode, reply.body).toBe(200);
  return reply.json();
}

let entries: Entry[];
let earlier: Awaited<ReturnType<typeof packOf>>;
beforeEach(async () => {
  await running.stores.empty(
    ...[
      'receipts',
      'receipt_log',
      'receipt_log_nodes',
      'receipt_log_checkpoints',
      'receipt_log_changes',
      'integrity_faults',
      'audit',
      'audit_heads',
    ],
  );
  entries = Array.from({ length: 50 }, (_, minute) => entry(minute));
  await running.store(...entries);
  clock = new Date('2026-11-20T12:30:00Z');
  await log();
  earlier = await packOf();
  // What goes on as it should: other calls, and a later version of an early one.
  clock = new Date('2026-11-21T12:00:00Z');
  await running.store(...Array.from({ length: 30 }, (_, minute) => entry(300 + minute)));
});

const first = (): Entry => entries[7] as Entry;
const nextPack = async () => {
  await log();
  return packOf({ earlier_tree_size: earlier.log.checkpoint.tree_size });
};
const verified = async (pack: unknown) => verifyPack(pack, trust, earlier);

test('a pack proves that its receipts are in the log, and that the log goes on from the one that was kept', async () => {
  expect(await verifyPack(earlier, trust)).toMatchObject({
    signature: 'trusted',
    mismatches: [],
    log: { proven: 50, late: [] },
  });
  const pack = await nextPack();
  expect(pack.log).toMatchObject({ checkpoint: { tree_size: 80 }, consistency: { from: 50 } });
  for (const kept of [earlier, earlier.log.checkpoint])
    expect(await verifyPack(pack, trust, kept)).toMatchObject({
      signature: 'trusted',
      mismatches: [],
      receipts: 80,
      log: { proven: 80, late: [] },
    });
});

test('receipts of an hour that is not over are not in the log yet, which is no mismatch', async () => {
  clock = new Date('2026-11-20T12:40:00Z');
  const pack = await packOf({ to: '2026-11-20T11:00:00Z' });
  expect(await verified(pack)).toMatchObject({ mismatches: [], log: { proven: 50 } });
});

test('without a proof from the kept checkpoint on, it says how to get one', async () => {
  await log();
  const { mismatches } = await verified(await packOf());
  expect(mismatches).toMatchObject([
    { receipt: null, field: 'log.consistency', expected: expect.stringContaining('"earlier_tree_size": 50') },
  ]);
  const other = { ...earlier.log.checkpoint, account: 'acct_other' };
  const { mismatches: foreign } = await verifyPack(await nextPack(), trust, other);
  expect(foreign.map(({ field }) => field)).toContain('earlier.signature');
});

test('a receipt that was taken out of the database is named', async () => {
  await running.stores.tamper(`DELETE FROM receipts WHERE id = '${first().receipt.id}'`);
  const { mismatches } = await verified(await nextPack());
  expect(mismatches).toContainEqual(
    expect.objectContaining({ receipt: urnOf(first()), field: 'receipt', expected: 'the entry 7 of the log' }),
  );
  expect(mismatches.every(({ receipt }) => receipt === urnOf(first()))).toBe(true);
});

test('the check of the ledger finds it too, and that the newest was taken out', async () => {
  await log();
  const [newest] = await running.stores.db.receiptLogEntry.findMany({ orderBy: { createdAt: 'desc' }, take: 1 });
  const gone = [first().receipt.id, String(newest?.receiptId)];
  for (const id of gone) await running.stores.tamper(`DELETE FROM receipts WHERE id = '${id}'`);
  const { faults } = await checkPage({ ...running.context, seals: testSeals }, { id: '', version: 0 });
  expect(faults.map(({ fault, name, number }) => [name, number, fault]).toSorted()).toEqual(
    gone.map((id) => [id, 1, 'missing']).toSorted(),
  );
});

test('also if its entry went too, by the earlier pack; the log then does not go on from it', async () => {
  const { id } = first().receipt;
  await running.stores.tamper(`DELETE FROM receipts WHERE id = '${id}'`);
  await running.stores.tamper(`DELETE FROM receipt_log WHERE receipt_id = '${id}'`);
  const { mismatches } = await verified(await nextPack());
  expect(mismatches).toContainEqual({
    receipt: urnOf(first()),
    field: 'receipt',
    expected: 'as it was in the earlier pack',
    found: 'nothing',
  });
});

test('a receipt that was altered is named, whether or not its seal was made again', async () => {
  const { id } = first().receipt;
  await running.stores.tamper(`UPDATE receipts SET energy_wh = energy_wh / 2 WHERE id = '${id}'`);
  const plain = await verified(await nextPack());
  expect(plain.mismatches.map(({ receipt }) => receipt)).toContain(urnOf(first()));
  // Whoever has the keys too makes another receipt of the same name.
  const forged = { ...first(), receipt: { ...first().receipt, carbon_g: 0.0001 } };
  await running.stores.tamper(`DELETE FROM receipts WHERE id = '${id}'`);
  await running.store(forged as Entry);
  const unlogged = await verified(await packOf({ earlier_tree_size: 50 }));
  expect(unlogged.mismatches).toMatchObject([
    { receipt: urnOf(first()), field: 'log' },
    { receipt: urnOf(first()), field: 'receipt' },
  ]);
  // The log takes it for one that was settled; it cannot come before the checkpoint any more.
  const { log: found } = await verified(await nextPack());
  expect(found.late).toEqual([urnOf(first())]);
});

test('a receipt that was put in at an earlier time is named', async () => {
  const backdated = entry(8);
  await running.store(backdated);
  const { log: found, mismatches } = await verified(await nextPack());
  expect([mismatches, found.late]).toEqual([[], [urnOf(backdated)]]);
  // Before the next hour: it has no entry at all.
  const next = entry(9);
  await running.store(next);
  expect((await verified(await packOf({ earlier_tree_size: 50 }))).mismatches).toMatchObject([
    { receipt: urnOf(next), field: 'log', found: 'nothing' },
  ]);
});

test('a log that was made anew, with keys and all, does not go on from the kept checkpoint', async () => {
  await running.stores.empty(
    'receipts',
    'receipt_log',
    'receipt_log_nodes',
    'receipt_log_checkpoints',
    'receipt_log_changes',
  );
  await running.store(...entries.filter((each) => each !== first()), entry(400), entry(401));
  const pack = await nextPack();
  expect((await verifyPack(pack, trust)).mismatches).toEqual([]);
  const { mismatches } = await verified(pack);
  expect(mismatches).toContainEqual(expect.objectContaining({ receipt: null, field: 'log', found: 'another log' }));
  expect(mismatches).toContainEqual(expect.objectContaining({ receipt: urnOf(first()), found: 'nothing' }));
});

test('a single receipt is proven by itself too, and that the log goes on from a kept checkpoint', async () => {
  const read = async (entry: Entry, query = '') => {
    const url = `/v1/gw/receipts/${entry.receipt.id}/proof${query}`;
    const reply = await running.get(url, { 'x-gw-account-id': accountId });
    return { status: reply.statusCode, body: reply.json() };
  };
  await log();
  const { body, status } = await read(first(), '?earlier_tree_size=50');
  expect([status, body.object, body.index]).toEqual([200, 'gw.receipt_proof', 7]);
  const { checkpoint, consistency, index, leaf_hash: leaf, path } = body;
  expect(leaf).toBe(leafHash(canonicalText(first().receipt)));
  expect(isIncluded(leaf, { index, path, size: checkpoint.tree_size, root: checkpoint.root_hash })).toBe(true);
  const [kept, later] = [earlier.log.checkpoint, checkpoint].map(({ root_hash: root, tree_size: size }) => ({
    root,
    size,
  }));
  if (kept && later) expect(isConsistent(kept, later, consistency.path)).toBe(true);
  expect(await checkCheckpoint(checkpoint, trust)).toBe('trusted');
  expect((await read(first(), '?earlier_tree_size=81')).body.consistency).toBeNull();

  const unlogged = entry(10);
  await running.store(unlogged);
  expect((await read(unlogged)).body).toMatchObject({ index: null, path: null, checkpoint: { tree_size: 80 } });
  const foreign = await running.get(`/v1/gw/receipts/${first().receipt.id}/proof`);
  expect([foreign.statusCode, foreign.json().error.code]).toEqual([404, 'receipt_not_found']);
  expect(await read(first(), '?earlier_tree_size=0')).toMatchObject({
    status: 400,
    body: { error: { param: 'earlier_tree_size' } },
  });
});

test('a later version has an entry of its own and is not late', async () => {
  const { id } = first().receipt;
  await running.store(entryFrom(callAt(at(7)), { accountId, changes: { id, version: 2, supersedes: 1 } }));
  const pack = await nextPack();
  expect(await verified(pack)).toMatchObject({ mismatches: [], receipts: 81, log: { proven: 81, late: [] } });
});
