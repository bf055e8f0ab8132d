/** Whoever kept a checkpoint finds in the next pack how somebody with the database has altered the ledger since. */
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { canonicalText } from '@gw/contract/internal/ledger-entry';
import { checkCheckpoint, logOrigin } from '@gw/evidence/checkpoint';
import { signed } from '@gw/evidence/internals/signature';
import { keptManifestOf, keptPackIn } from '@gw/evidence/kept-pack';
import { isConsistent, isIncluded, leafHash } from '@gw/evidence/merkle';
import { type VerifyOptions, verifyPack as verifyFile } from '@gw/evidence/verify';
import { oneOfEach } from '@gw/testing/cases';
import { identified, startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { callAt, type Entry, entryFrom, unattended } from '@gw/testing/control-plane/calls';
import { addresses, keepTables, ledgerTables, settleAnyAge, testSeals } from '@gw/testing/control-plane/fixtures';
import { longPackOf } from '@gw/testing/control-plane/long-pack';
import { bytesOf } from '@gw/testing/evidence/made-packs';
import { afterAll, assert, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkPage } from '../integrity/check-receipts.ts';
import { noteFaults } from '../integrity/faults.ts';
import { appendReceipts } from '../log/append.ts';

let running: TestApp;
/** Whether a job builds the packs. */
let isLong = false;
let clock = new Date('2026-11-21T12:00:00Z');
afterAll(() => running?.stop());

const key = signingKeyOf('e1'.repeat(32));
const trust = { thumbprint: key.publicJwk.kid };
const accountId = 'acct_proven';
const day = { from: '2026-11-20', to: '2026-11-22' };
const at = (minute: number) => new Date(Date.parse('2026-11-20T10:00:00Z') + minute * 60_000).toISOString();
const entry = (minute: number): Entry => entryFrom(callAt(at(minute)), { accountId });
const log = () => appendReceipts({ addresses, db: running.stores.db, now: () => clock, key, seals: testSeals });
const urnOf = ({ receipt }: Entry, version = 1) => `urn:gw:receipt:${receipt.id}:${version}`;

async function packOf(body: object = {}) {
  if (isLong) {
    const asked = { ...day, ...body };
    return JSON.parse(await longPackOf(running.stores.db, key, { accountId, asked, now: clock }));
  }
  const reply = await running.app.inject({
    method: 'POST',
    url: '/v1/gw/evidence-pack',
    headers: identified({ 'x-gw-account-id': accountId, 'x-gw-scopes': 'gw:export' }),
    payload: { ...day, ...body },
  });
  expect(reply.statusCode, reply.body).toBe(200);
  return reply.json();
}

/** Verifies a parsed pack as if it came from a file. */
const verifyPack = (pack: unknown, options: VerifyOptions) => verifyFile(bytesOf(pack), options);

// The histories of honest-packs.pg.test.ts have both kinds of packs in each run.
const ways = oneOfEach<[string, boolean]>(
  [
    ['is the reply', false],
    ['a job has built', true],
  ],
  () => 'a pack',
);
const entries = Array.from({ length: 50 }, (_, minute) => entry(minute));
let earlier: Awaited<ReturnType<typeof packOf>>;
/** Each of the ways has one of its own. */
const firstPacks = new Map<boolean, typeof earlier>();
let putBack: () => Promise<void>;
beforeAll(async () => {
  running = await startTestApp(() => clock);
  await settleAnyAge(running.stores);
  await running.store(...entries);
  clock = new Date('2026-11-20T12:30:00Z');
  await log();
  for (const [, long] of ways) {
    isLong = long;
    firstPacks.set(long, await packOf());
  }
  isLong = false;
  // Honest changes go on: other calls, and a later version of an early one.
  await running.store(...Array.from({ length: 30 }, (_, minute) => entry(300 + minute)));
  putBack = await keepTables(running.stores, ...ledgerTables);
}, 120_000);
beforeEach(async () => {
  await putBack();
  earlier = firstPacks.get(isLong);
  clock = new Date('2026-11-21T12:00:00Z');
});

const first = (): Entry => entries[7] as Entry;
const nextPack = async () => {
  await log();
  return packOf({ earlier_tree_size: earlier.log.checkpoint.tree_size });
};
const verified = async (pack: unknown) => verifyPack(pack, { trust, earlier: earlier });

describe.each(ways)('of a pack that %s:', (_, long) => {
  beforeAll(() => {
    isLong = long;
    return () => {
      isLong = false;
    };
  });

  test('a pack proves that its receipts are in the log, and that the log goes on from the one that was kept', async () => {
    expect(await verifyPack(earlier, { trust })).toMatchObject({
      signature: 'trusted',
      mismatches: [],
      log: { proven: 50, late: [] },
    });
    const pack = await nextPack();
    expect(pack.log).toMatchObject({ checkpoint: { tree_size: 80 }, consistency: { from: 50 } });
    for (const kept of [earlier, earlier.log.checkpoint])
      expect(await verifyPack(pack, { trust, earlier: kept })).toMatchObject({
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
    const account = 'acct_other';
    const other = { ...earlier.log.checkpoint, account, origin: logOrigin(addresses.baseUrl, account) };
    const { mismatches: foreign } = await verifyPack(await nextPack(), { trust, earlier: other });
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

  /** Stores another receipt of the same name, as only somebody with the database and the keys of the ledger can. */
  async function replace(entry: Entry, changes: object): Promise<void> {
    const { id, version } = entry.receipt;
    await running.stores.tamper(`DELETE FROM receipts WHERE id = '${id}' AND version = ${version}`);
    await running.store({ ...entry, receipt: { ...entry.receipt, ...changes } } as Entry);
  }

  test('a receipt that was altered is named', async () => {
    const { id } = first().receipt;
    await running.stores.tamper(`UPDATE receipts SET energy_wh = energy_wh / 2 WHERE id = '${id}'`);
    const { mismatches } = await verified(await nextPack());
    expect(mismatches.map(({ receipt }) => receipt)).toContain(urnOf(first()));
  });

  test('also if its seal was made again, by the kept checkpoint alone and before the log has it too', async () => {
    await replace(first(), { carbon_g: 0.0001 });
    const unlogged = await packOf({ earlier_tree_size: 50 });
    const logged = await nextPack();
    for (const [pack, kept] of [
      [unlogged, undefined],
      [logged, undefined],
      [logged, earlier.log.checkpoint],
    ])
      expect((await verifyPack(pack, { trust, earlier: kept })).mismatches).toEqual([
        {
          receipt: urnOf(first()),
          field: 'receipt',
          expected: 'the entry 7 of the log',
          found: 'what it cannot have become',
        },
      ]);
    expect((await verified(logged)).mismatches).toContainEqual({
      receipt: urnOf(first()),
      field: 'receipt',
      expected: 'as it was in the earlier pack',
      found: 'another content',
    });
  });

  test('a later version that was altered is named as well', async () => {
    const { id } = first().receipt;
    const second = entryFrom(callAt(at(7)), { accountId, changes: { id, version: 2, supersedes: 1 } });
    await running.store(second);
    const kept = await nextPack();
    await replace(second, { carbon_g: 0.0001 });
    await log();
    const pack = await packOf({ earlier_tree_size: kept.log.checkpoint.tree_size });
    for (const trusted of [undefined, kept.log.checkpoint, kept])
      expect((await verifyPack(pack, { trust, earlier: trusted })).mismatches).toContainEqual(
        expect.objectContaining({ receipt: urnOf(first(), 2), field: 'receipt' }),
      );
  });

  test('one that was altered and whose entry was rubbed out is named by the kept pack', async () => {
    await replace(first(), { carbon_g: 0.0001 });
    await running.stores.tamper(`UPDATE receipt_log SET receipt_id = 'rcpt_other' WHERE index = 7`);
    const pack = await nextPack();
    expect((await verifyPack(pack, { trust })).mismatches).toContainEqual(
      expect.objectContaining({ receipt: 'urn:gw:receipt:rcpt_other:1', expected: 'the entry 7 of the log' }),
    );
    expect((await verified(pack)).mismatches).toContainEqual(
      expect.objectContaining({ receipt: urnOf(first()), expected: 'as it was in the earlier pack' }),
    );
  });

  test('a receipt that was settled since is named, and is no mismatch, before and after the log has it', async () => {
    await log();
    await running.store(unattended(first(), { shown: true }));
    const before = await packOf({ earlier_tree_size: 50 });
    const after = await nextPack();
    for (const pack of [before, after]) {
      expect(await verifyPack(pack, { trust })).toMatchObject({ mismatches: [], log: { changed: [], late: [] } });
      for (const kept of [earlier, earlier.log.checkpoint])
        expect(await verifyPack(pack, { trust, earlier: kept })).toMatchObject({
          mismatches: [],
          log: { changed: [urnOf(first())], late: [], unlogged: [] },
        });
    }
  });

  test('a receipt that was put in at an earlier time is named', async () => {
    const backdated = entry(8);
    await running.store(backdated);
    const { log: found, mismatches } = await verified(await nextPack());
    expect([mismatches, found.late]).toEqual([[], [urnOf(backdated)]]);
    // Before the next round: it has no entry at all.
    const next = entry(9);
    await running.store(next);
    const unlogged = await verified(await packOf({ earlier_tree_size: 50 }));
    expect(unlogged.log.unlogged).toEqual([urnOf(next)]);
  });

  test('so it is as a later version of a receipt that never was', async () => {
    const second = entryFrom(callAt(at(8)), { accountId, changes: { version: 2, supersedes: 1 } });
    const { receipt } = second;
    await running.store({ ...second, receipt: { ...receipt, version: 1, supersedes: null } }, second);
    await running.stores.tamper(`DELETE FROM receipts WHERE id = '${receipt.id}' AND version = 1`);
    const pack = await nextPack();
    expect((await verifyPack(pack, { trust })).mismatches).toContainEqual({
      receipt: urnOf(second),
      field: 'receipt',
      expected: 'in the pack, as a later version is',
      found: 'nothing',
    });
  });

  test('one that was put in for a time when nothing was called is named by the kept pack', async () => {
    clock = new Date('2026-11-20T20:00:00Z');
    earlier = await packOf();
    clock = new Date('2026-11-21T12:00:00Z');
    const quiet = entry(180);
    await running.store(quiet);
    expect((await verified(await nextPack())).log.late).toContain(urnOf(quiet));
  });

  test('a log that has stopped is noticed', async () => {
    const pack = await packOf();
    expect((await verifyPack(pack, { trust })).log.unlogged).toHaveLength(30);
    await running.stores.empty('receipt_log', 'receipt_log_nodes', 'receipt_log_checkpoints');
    const { log: found, mismatches } = await verifyPack(await packOf(), { trust });
    expect([mismatches, found.unlogged.length, found.proven]).toEqual([[], 80, 0]);
  });

  test('a log that cannot be read is said to be so', async () => {
    await running.stores.tamper(`UPDATE receipt_log_checkpoints SET checkpoint = '{}'::json`);
    const { log: found, mismatches } = await verifyPack(await packOf(), { trust });
    expect(found.fault).toBe('The newest checkpoint cannot be read.');
    expect(mismatches).toMatchObject([{ field: 'log' }]);
    expect(
      (await running.get(`/v1/gw/receipts/${first().receipt.id}/proof`, { 'x-gw-account-id': accountId })).statusCode,
    ).toBe(500);
  });

  test('it is whole, as far as the checkpoint goes, also if entries of other times stand between its own', async () => {
    const { id } = first().receipt;
    const second = entryFrom(callAt(at(7)), { accountId, changes: { id, version: 2, supersedes: 1 } });
    await running.store(entry(-60 * 24 * 30), entry(30), second);
    const pack = await nextPack();
    const { log: found, mismatches } = await verified(pack);
    expect([mismatches, found.whole]).toEqual([[], { until: '2026-11-21T11:00:00.000Z', hours: 2, open: [] }]);
    expect(pack.log.hours.shown).toMatchObject([
      {
        ranges: [
          [0, 50],
          [51, 2],
        ],
      },
      { ranges: [[53, 30]] },
    ]);
  });

  test('it is whole too, if its period begins and ends within an hour', async () => {
    const [from, to] = [at(10), at(305)];
    const { log: found, mismatches, receipts } = await verifyPack(await packOf({ from, to }), { trust });
    expect([mismatches, receipts, found.whole]).toEqual([[], 45, { until: at(120), hours: 1, open: [] }]);
    await log();
    const next = await verifyPack(await packOf({ from, to }), { trust });
    expect([next.mismatches, next.log.whole]).toEqual([[], { until: to, hours: 2, open: [] }]);
  });

  test('one of some receipts alone does not claim to be whole', async () => {
    for (const some of [{ model: first().receipt.model }, { receipt_ids: [first().receipt.id] }]) {
      const { log: found, mismatches } = await verifyPack(await packOf(some), { trust });
      expect([mismatches, found.whole]).toEqual([[], null]);
    }
  });

  test('hours that somebody with the database has altered are no proof', async () => {
    await running.stores.tamper(`UPDATE receipt_log_hours SET ranges = '[[0,49]]' WHERE level = 0`);
    const pack = await packOf();
    expect(pack.log.fault).toBe('The hours of the log of receipts are not those that were signed.');
    expect((await verifyPack(pack, { trust })).mismatches).toMatchObject([{ field: 'log.hours' }]);
  });

  test('a row that was put in without a seal is named, and nothing else', async () => {
    const bare = entry(8);
    await running.store(bare);
    await running.stores.tamper(`UPDATE receipts SET seal = repeat('0', 64) WHERE id = '${bare.receipt.id}'`);
    const { excluded, mismatches } = await verified(await nextPack());
    expect(excluded).toMatchObject([{ receipt_id: bare.receipt.id, version: 1 }]);
    expect(mismatches).toMatchObject([{ receipt: urnOf(bare), expected: 'as it was issued' }]);
  });

  test('a pack by model names what was taken out, and what is known to be altered; a kept pack the rest', async () => {
    const { model } = first().receipt;
    const [gone, known, other] = [entries[1], entries[2], entries[3]] as [Entry, Entry, Entry];
    const kept = await packOf({ model });
    await running.stores.tamper(`DELETE FROM receipts WHERE id = '${gone.receipt.id}'`);
    await running.stores.tamper(
      `UPDATE receipts SET model = 'zzz' WHERE id IN ('${known.receipt.id}', '${other.receipt.id}')`,
    );
    await noteFaults(running.context, 'receipt', [{ name: known.receipt.id, number: 1, fault: 'altered' }]);
    await log().catch(() => {});
    const pack = await packOf({ model, earlier_tree_size: 50 });
    const named = (found: { mismatches: readonly { receipt: string | null }[] }) =>
      found.mismatches.map(({ receipt }) => receipt).toSorted();
    const alone = await verifyPack(pack, { trust });
    expect(named(alone)).toEqual([gone, known].map((each) => urnOf(each)).toSorted());
    expect(alone.about.isFiltered).toBe(true);
    expect((await verifyPack(pack, { trust, earlier: kept })).log.changed).toEqual(
      expect.arrayContaining([urnOf(other)]),
    );
  });

  test('a log that was made anew, with keys and all, does not go on from the kept checkpoint', async () => {
    await running.stores.empty(
      'receipts',
      'receipt_log',
      'receipt_log_nodes',
      'receipt_log_checkpoints',
      'receipt_log_changes',
      'audit',
      'audit_heads',
    );
    await running.store(...entries.filter((each) => each !== first()), entry(400), entry(401));
    const pack = await nextPack();
    expect((await verifyPack(pack, { trust })).mismatches).toEqual([]);
    const { mismatches } = await verified(pack);
    const found = expect.stringContaining('the log tells two stories');
    expect(mismatches).toContainEqual(expect.objectContaining({ receipt: null, field: 'log', found }));
    expect(mismatches).toContainEqual(expect.objectContaining({ receipt: urnOf(first()), found: 'nothing' }));
  });

  test('a log that has become shorter is said to be so', async () => {
    const pack = await nextPack();
    const { mismatches } = await verifyPack(earlier, { trust, earlier: pack.log.checkpoint });
    expect(mismatches).toMatchObject([{ field: 'log.tree_size', found: '50: the log has become shorter' }]);
  });

  test('a later version has an entry of its own and is not late', async () => {
    const { id } = first().receipt;
    await running.store(entryFrom(callAt(at(7)), { accountId, changes: { id, version: 2, supersedes: 1 } }));
    const pack = await nextPack();
    expect(await verified(pack)).toMatchObject({ mismatches: [], receipts: 81, log: { proven: 81, late: [] } });
  });
});

test('a receipt that the kept pack has by itself alone proves nothing', async () => {
  const pack = await nextPack();
  const made = structuredClone(earlier);
  made.receipts.push({ ...made.receipts[0], id: 'urn:gw:receipt:rcpt_x:1', receipt_id: 'rcpt_x' });
  const fields = async (kept: object) =>
    (await verifyPack(pack, { trust, earlier: kept })).mismatches.map(({ field }) => field);
  expect(await fields(made)).toEqual(['earlier.sha256', 'earlier.log']);
  expect(
    await fields({ ...earlier, signature: await signed(earlier.manifest, signingKeyOf('02'.repeat(32))) }),
  ).toEqual(['earlier.signature']);
  // This receipt is signed but is not in the log that it names.
  const kept = keptPackIn(made);
  assert(kept !== null);
  const manifest = keptManifestOf(kept);
  expect(await fields({ ...made, manifest, signature: await signed(manifest, key) })).toEqual(['earlier.log']);
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
