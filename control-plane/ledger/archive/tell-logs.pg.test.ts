/** The log of each account tells of a month that is archived, once, and nobody makes a month that is missing look like one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { archivedHash, archivedMonthIn } from '@gw/evidence/archived-month';
import { checkpointIn } from '@gw/evidence/checkpoint';
import { isIncluded } from '@gw/evidence/merkle';
import { verifyPack } from '@gw/evidence/verify';
import { ensurePartitions } from '@gw/prisma/partitions';
import { startTestApp } from '@gw/testing/control-plane/app';
import { callAt, type Entry, entryFrom } from '@gw/testing/control-plane/calls';
import { roundAtOnce, silentLog } from '@gw/testing/control-plane/fixtures';
import { longPackOf } from '@gw/testing/control-plane/long-pack';
import { bytesOf } from '@gw/testing/evidence/made-packs';
import { forFile } from '@gw/testing/for-file';
import { afterAll, afterEach, expect, test } from 'vitest';
import { checkLogs } from '../integrity/check-log.ts';
import { checkAll } from '../integrity/check-receipts.ts';
import { appendReceipts } from '../log/append.ts';
import { archivedLeaf } from '../log/archived-leaf.ts';
import { sealOpen, signHeads } from '../log/heads.ts';
import { signCheckpoint, trustIn } from '../log/sign.ts';
import { appendLeaves, inclusionPaths, lockLog } from '../log/tree.ts';
import { type ArchiveNote, noteIn } from '../receipts/archive-notes.ts';
import { type ArchiveOptions, archiveMonths } from './archive-month.ts';
import { checkArchive } from './check-archive.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-tell-logs-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const running = forFile(() => startTestApp(undefined, undefined, { GW_OBJECTS_DIR: join(dir, 'objects') }));
afterEach(() => running.stores.empty('integrity_faults'));

const key = signingKeyOf('e1'.repeat(32));
const accounts = ['acct_demo_audit', 'acct_demo_enterprise'] as const;
const options = (): ArchiveOptions => {
  const { databases, redis, seals } = running.stores;
  const { objects } = running.context;
  const held = async () => ({ all: false, accounts: new Set<string>() });
  return { db: databases.ledger, redis, seals, log: silentLog, now: () => new Date(), objects, key, held };
};
const entriesOf = (month: string, count: number, accountId: string): Entry[] =>
  Array.from({ length: count }, (_, n) => entryFrom(callAt(`${month}-1${n}T10:00:00Z`), { accountId }));

/** Asks for the archive of a month that has three receipts of the first account and one of the second. */
async function archiveAsked(month: string, other = entriesOf(month, 1, accounts[1])): Promise<void> {
  await ensurePartitions(options().db, new Date(`${month}-01`), 1);
  await running.store(...entriesOf(month, 3, accounts[0]), ...other);
  await appendReceipts(options());
  await sealOpen(options(), 0);
  await signHeads(options());
  await options().db
    .$executeRaw`INSERT INTO receipt_archives (month, asked_by) VALUES (${`${month}-01`}::date, 'test')`;
}
async function archived(month: string, other?: Entry[]): Promise<ArchiveNote> {
  await archiveAsked(month, other);
  await archiveMonths(options());
  const row = await archiveOf(month);
  expect(row.state).toBe('detached');
  return noteIn(row.note, month, running.stores.seals) ?? expect.fail();
}
const archiveOf = (month: string) =>
  running.stores.db.receiptArchive.findUniqueOrThrow({ where: { month: new Date(`${month}-01`) } });
const leavesOf = (month: string) =>
  running.stores.db.receiptLogEntry.findMany({
    where: { receiptId: `archived:${month}` },
    orderBy: { accountId: 'asc' },
  });

async function faults(): Promise<string[]> {
  const check = { ...options(), trust: trustIn(key), ...roundAtOnce };
  await running.stores.tamper(`UPDATE integrity_checks SET claimed_until = NULL, begun_at = NULL, finished_at = NULL`);
  await checkLogs(check);
  await checkAll(check, () => true);
  await checkArchive(check);
  const found = await running.stores.db.integrityFault.findMany({
    where: { mendedAt: null },
    orderBy: [{ kind: 'asc' }, { name: 'asc' }, { number: 'asc' }],
  });
  return found.map(({ fault, kind, name, number }) => `${kind} ${name} ${number} ${fault}`);
}

/** Dies in its `n`th transaction, or right after it. */
function dying(n: number, isAfter: boolean): ArchiveOptions {
  let left = n;
  const db = new Proxy(options().db, {
    get: (target, name) =>
      name !== '$transaction'
        ? Reflect.get(target, name)
        : async (...asked: Parameters<typeof target.$transaction>) => {
            left -= 1;
            if (left < 0 && !isAfter) throw new Error('Killed here.');
            const done = await Reflect.apply(target.$transaction, target, asked);
            if (left < 0) throw new Error('Killed here.');
            return done;
          },
  });
  return { ...options(), db };
}

test('an archive that dies at any moment tells each log once, under a signed checkpoint, before the month is detached', async () => {
  const month = '2025-01';
  await archiveAsked(month);
  const before = new Map<string, number>();
  for (const accountId of accounts)
    before.set(accountId, await running.stores.db.receiptLogEntry.count({ where: { accountId } }));
  let tries = 0;
  for (; tries < 40 && (await archiveOf(month)).state !== 'detached'; tries += 1) {
    await archiveMonths(dying(Math.floor(tries / 2), tries % 2 === 1)).catch(() => {});
    await running.stores.tamper('UPDATE receipt_archives SET claimed_until = NULL, rests_until = NULL');
    const isDetached = (await archiveOf(month)).state === 'detached';
    expect((await leavesOf(month)).length).toBeGreaterThanOrEqual(isDetached ? 2 : 0);
  }
  expect(tries).toBeGreaterThan(5);
  const leaves = await leavesOf(month);
  expect(leaves.map(({ accountId, index }) => [accountId, Number(index)])).toEqual([...before]);
  const note = (await archiveOf(month)).note as unknown as ArchiveNote;
  for (const [at, { accountId, archived: text, index, leafHash }] of leaves.entries()) {
    const said = archivedMonthIn(JSON.parse(text ?? '')) ?? expect.fail();
    expect(said).toMatchObject({
      account: accountId,
      month,
      receipts: at === 0 ? 3 : 1,
      files_sha256: note.files_sha256,
    });
    const rows = await running.stores.db.receiptLogCheckpoint.findMany({
      where: { accountId },
      orderBy: { treeSize: 'desc' },
    });
    const { complete_until, root_hash: root, tree_size: size } = checkpointIn(rows[0]?.checkpoint) ?? expect.fail();
    expect(size).toBe(Number(index) + 1);
    expect(complete_until).toBe(checkpointIn(rows[1]?.checkpoint)?.complete_until);
    const [path] = await inclusionPaths(running.stores.db, accountId, [Number(index)], size);
    expect(Buffer.from(leafHash).toString('hex')).toBe(archivedHash(said));
    expect(isIncluded(archivedHash(said), { index: Number(index), path, size, root })).toBe(true);
  }
  const told = await running.stores.db.$queryRaw<{ chain: string }[]>`
    SELECT chain FROM audit WHERE action = 'gw.archived' ORDER BY chain`;
  expect(told.map(({ chain }) => chain)).toEqual([...accounts, 'operators']);
  expect(await faults()).toEqual([]);
  // A job builds this pack, in windows one of which has the time of the note.
  const asked = { from: '2026-01-01' };
  const pack = await longPackOf(running.stores.db, key, { accountId: accounts[0], asked, now: new Date() });
  expect(await verifyPack(bytesOf(pack), { trust: { thumbprint: key.publicJwk.kid } })).toMatchObject({
    mismatches: [],
    log: { archived: [month], fault: null },
  });
});

test('a month that has its note cannot be given up any more', async () => {
  const month = '2025-02';
  await archiveAsked(month);
  let asks = 0;
  // It asks when it begins, when it writes the note, and when it detaches.
  const held: ArchiveOptions['held'] = async () => ({ all: asks++ === 2, accounts: new Set() });
  await archiveMonths({ ...options(), held });
  expect(await archiveOf(month)).toMatchObject({
    state: 'frozen',
    note: { month },
    problem: expect.stringContaining('hold'),
  });
  await expect(options().db.$executeRaw`SELECT thaw_receipt_month('2025-02-01'::date)`).rejects.toThrow('has its note');
  await running.stores.tamper('UPDATE receipt_archives SET claimed_until = NULL, rests_until = NULL');
  await archiveMonths(options());
  expect((await archiveOf(month)).state).toBe('detached');
  expect(await faults()).toEqual([]);
});

test('receipts of a month of which their log does not tell are missing, whatever note is sealed', async () => {
  const month = '2025-03';
  const [entry] = entriesOf(month, 1, accounts[1]);
  await archived(month, [entry ?? expect.fail()]);
  await running.stores.tamper(`CREATE TABLE kept AS SELECT * FROM receipt_log WHERE receipt_id = 'archived:${month}'`);
  await running.stores.tamper(
    `DELETE FROM receipt_log WHERE receipt_id = 'archived:${month}' AND account_id = '${accounts[1]}'`,
  );
  expect(await faults()).toEqual(
    expect.arrayContaining([
      `archive ${accounts[1]} 202503 its log does not tell of the archive`,
      `receipt ${entry?.receipt.id} 1 missing`,
    ]),
  );
  await running.stores.tamper('INSERT INTO receipt_log SELECT * FROM kept ON CONFLICT DO NOTHING');
  await running.stores.tamper('DROP TABLE kept');
  await running.stores.empty('integrity_faults');
  expect(await faults()).toEqual([]);
});

test('an entry that says something else than it said is named, and so is one without a sealed archive', async () => {
  const [month, never] = ['2025-04', '2025-05'];
  const note = await archived(month);
  const [leaf] = await leavesOf(month);
  const put = (from: string, to: string) =>
    running.stores.tamper(
      `UPDATE receipt_log SET archived = replace(archived, '${from}', '${to}') WHERE receipt_id = 'archived:${month}' AND account_id = '${accounts[0]}'`,
    );
  await put('"receipts":3', '"receipts":2');
  expect(await faults()).toEqual([
    `archive ${accounts[0]} 202504 its log does not tell of the archive`,
    `log ${accounts[0]} ${leaf?.index} altered`,
  ]);
  await put('"receipts":2', '"receipts":3');
  await running.stores.empty('integrity_faults');
  // Somebody with all keys, but without an archive.
  const { db } = options();
  await db.$transaction(async (tx) => {
    await lockLog(tx, accounts[0]);
    await appendLeaves(tx, running.stores.seals, accounts[0], [
      archivedLeaf(accounts[0], { ...note, month: never }, 3),
    ]);
  });
  await signCheckpoint(options(), accounts[0], { until: new Date(0), marks: [] });
  const [forged] = await leavesOf(never);
  expect(await faults()).toEqual([`log ${accounts[0]} ${forged?.index} without its archive`]);
});
