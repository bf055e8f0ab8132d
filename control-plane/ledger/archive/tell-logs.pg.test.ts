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
import { addresses, roundAtOnce, silentLog } from '@gw/testing/control-plane/fixtures';
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
import { type ArchiveNote, noteIn, sealedNote } from '../receipts/archive-notes.ts';
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
  const now = () => new Date();
  return { addresses, db: databases.ledger, redis, seals, log: silentLog, now, objects, key, held };
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

/** It asks for holds when it begins, when it writes the note, before it tells each log, and when it detaches. */
async function archiveHeldAt(ask: number): Promise<void> {
  let asks = 0;
  const held: ArchiveOptions['held'] = async () => ({ all: asks++ === ask, accounts: new Set() });
  await archiveMonths({ ...options(), held });
}
async function goOnWith(month: string, changes: Partial<ArchiveOptions> = {}) {
  await running.stores.tamper('UPDATE receipt_archives SET claimed_until = NULL, rests_until = NULL');
  await archiveMonths({ ...options(), ...changes });
  return archiveOf(month);
}

test('a month that has its note cannot be given up any more', async () => {
  const month = '2025-02';
  await archiveAsked(month);
  await archiveHeldAt(2);
  expect(await archiveOf(month)).toMatchObject({
    state: 'frozen',
    note: { month },
    problem: expect.stringContaining('hold'),
  });
  await expect(options().db.$executeRaw`SELECT thaw_receipt_month('2025-02-01'::date)`).rejects.toThrow('has its note');
  expect((await goOnWith(month)).state).toBe('detached');
  expect(await faults()).toEqual([]);
});

test('a note that logs may tell of is never replaced, and holds its month up if it is not what was stored', async () => {
  const month = '2025-06';
  await archiveAsked(month);
  await archiveHeldAt(3);
  expect((await leavesOf(month)).map(({ accountId }) => accountId)).toEqual([accounts[0]]);
  const { note: stored } = await archiveOf(month);
  const { db, seals } = { ...options(), ...running.stores };
  for (const other of [null, '{}'])
    await expect(
      db.$executeRaw`UPDATE receipt_archives SET note = ${other}::json WHERE month = '2025-06-01'`,
    ).rejects.toThrow('has its note');
  const note = noteIn(stored, month, seals) ?? expect.fail();
  const { tamper } = running.stores;
  const put = (text: string) => tamper(`UPDATE receipt_archives SET note = '${text}' WHERE month = '2025-06-01'`);
  const forms: [() => Promise<unknown>, string][] = [
    [() => put('{"format": "gw.archived/1"}'), 'GW_LEDGER_KEYS_PREVIOUS'],
    [
      () => put(JSON.stringify(sealedNote({ ...note, at: '2026-01-01T00:00:00.000Z' }, seals))),
      `Entry ${(await leavesOf(month))[0]?.index} of the log of ${accounts[0]} tells of another archive`,
    ],
    [() => put(JSON.stringify(sealedNote({ ...note, files_sha256: '0'.repeat(64) }, seals))), 'receipt_archive_files'],
  ];
  for (const [alter, problem] of forms) {
    await alter();
    const { note: before } = await archiveOf(month);
    expect(await goOnWith(month)).toMatchObject({
      state: 'frozen',
      note: before,
      problem: expect.stringContaining(problem),
    });
    expect(await leavesOf(month)).toHaveLength(1);
  }
  await put(JSON.stringify(stored));
  expect(await goOnWith(month)).toMatchObject({ state: 'detached', note: stored });
  expect(await leavesOf(month)).toHaveLength(2);
  expect(await faults()).toEqual([]);
});

test('a log that breaks after the note is named, keeps no other from being told, and costs no second look at the batches', async () => {
  const month = '2025-07';
  await archiveAsked(month);
  await archiveHeldAt(2);
  const put = (from: string, to: string) =>
    running.stores.tamper(
      `UPDATE receipt_log_checkpoints SET checkpoint = replace(checkpoint::text, '${from}', '${to}')::json WHERE account_id = '${accounts[0]}'`,
    );
  await put('"root_hash":"', '"root_hash":"0');
  const statements: string[] = [];
  const db = new Proxy(options().db, {
    get: (target, name) =>
      name !== '$queryRaw'
        ? Reflect.get(target, name)
        : (...asked: Parameters<typeof target.$queryRaw>) => {
            const [text] = asked;
            statements.push(('strings' in text ? text.strings : text).join('?'));
            return Reflect.apply(target.$queryRaw, target, asked);
          },
  });
  expect(await goOnWith(month, { db })).toMatchObject({
    state: 'frozen',
    problem: expect.stringContaining(`${accounts[0]}: The last checkpoint of the log is not what was signed`),
    restsUntil: expect.any(Date),
  });
  expect(statements.join()).toContain('receipt_log');
  expect(statements.join()).not.toContain('receipt_batches');
  expect((await leavesOf(month)).map(({ accountId }) => accountId)).toContain(accounts[1]);
  await put('"root_hash":"0', '"root_hash":"');
  expect((await goOnWith(month)).state).toBe('detached');
  expect(await leavesOf(month)).toHaveLength(2);
  expect(await faults()).toEqual([]);
});

test('a month gets no note while the log of an account has a fault, and its note is in Postgres before it is beside the files', async () => {
  const month = '2025-08';
  await archiveAsked(month);
  await options().db.$executeRaw`SELECT freeze_receipt_month('2025-08-01'::date)`;
  await running.stores.tamper(
    `INSERT INTO integrity_faults (kind, name, number, fault) VALUES ('log', '${accounts[0]}', 0, 'altered')`,
  );
  expect(await goOnWith(month)).toMatchObject({ note: null, problem: expect.stringContaining('not mended') });
  await running.stores.empty('integrity_faults');
  const { objects } = options();
  const put: typeof objects.put = async (name, bytes) => {
    if (name.endsWith('note.json')) throw new Error('Killed here.');
    await objects.put(name, bytes);
  };
  await goOnWith(month, { objects: { ...objects, put } }).catch(() => {});
  expect(await archiveOf(month)).toMatchObject({ state: 'frozen', note: { month } });
  expect(await leavesOf(month)).toEqual([]);
  expect((await goOnWith(month)).state).toBe('detached');
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
