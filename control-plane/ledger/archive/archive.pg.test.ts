/** A month of receipts leaves Postgres: it is written, detached, read back, proven and checked, and every forgery of it is named. */

import { gunzipSync } from 'node:zlib';
import { runAdmin } from '@gw/cli/internals/commands/admin';
import { findTarget, openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import { readSettings } from '@gw/contract/internal/environment';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { signed } from '@gw/evidence/signature';
import { ensurePartitions } from '@gw/prisma/partitions';
import { oneOfEach } from '@gw/testing/cases';
import { seedOperators } from '@gw/testing/control-plane/access';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { callAt, type Entry, entryFrom, unattended } from '@gw/testing/control-plane/calls';
import { addresses, roundAtOnce, settleAnyAge, silentLog } from '@gw/testing/control-plane/fixtures';
import { startBucket, type TestBucket } from '@gw/testing/control-plane/s3-server';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readAudit } from '../../people/audit/read.ts';
import { readObjects } from '../../shared/objects/config.ts';
import { type ObjectStore, ObjectsUnavailableError } from '../../shared/objects/objects.ts';
import { selectFew, selectReceipts } from '../evidence/select.ts';
import type { Period, ReceiptFilter } from '../evidence/select-archived.ts';
import { checkBatches, checkNewestBatches } from '../integrity/check-batches.ts';
import { checkAll } from '../integrity/check-receipts.ts';
import { appendReceipts } from '../log/append.ts';
import { sealOpen, signHeads } from '../log/heads.ts';
import { trustIn } from '../log/sign.ts';
import { leastId } from '../receipts/archive-notes.ts';
import { claim } from '../receipts/interval-claims.ts';
import { checkAMinute } from '../usage/minutes.ts';
import { type ArchiveOptions, archiveMonths } from './archive-month.ts';
import { checkArchive } from './check-archive.ts';
import { askForDue } from './job.ts';

const key = signingKeyOf('e1'.repeat(32));
let bucket: TestBucket;
let objects: ObjectStore;
let running: TestApp;
beforeAll(async () => {
  bucket = await startBucket();
  objects = readObjects(readSettings(bucket.settings));
  running = await startTestApp(() => new Date(), undefined, bucket.settings);
}, 120_000);
afterEach(() => running.stores.empty('integrity_faults'));
afterAll(async () => {
  await running?.stop();
  await bucket?.stop();
});

const nobody = { all: false, accounts: new Set<string>() };
const options = (changes: Partial<ArchiveOptions> = {}): ArchiveOptions => {
  const { databases, redis, seals } = running.stores;
  const held = async () => nobody;
  const now = () => new Date();
  return { addresses, db: databases.ledger, redis, seals, log: silentLog, now, objects, key, held, ...changes };
};
const accountId = 'acct_demo_audit';
const at = (month: string, n: number) => new Date(Date.parse(`${month}-10T00:00:00Z`) + n * 3_600_000).toISOString();
const entriesOf = (month: string, count: number, account = accountId): Entry[] =>
  Array.from({ length: count }, (_, n) => entryFrom(callAt(at(month, n)), { accountId: account }));

async function stored(month: string, ...batches: readonly (readonly Entry[])[]): Promise<void> {
  await ensurePartitions(options().db, new Date(`${month}-01`), 1);
  for (const batch of batches) await running.store(...batch);
  await appendReceipts(options());
  await sealOpen(options(), 0);
  await signHeads(options());
}
const ask = (month: string) =>
  options().db.$executeRaw`INSERT INTO receipt_archives (month, asked_by) VALUES (${`${month}-01`}::date, 'test')`;
async function archive(month: string, changes: Partial<ArchiveOptions> = {}): Promise<void> {
  await ask(month);
  await archiveMonths(options(changes));
}
/** Its state, and why it does not go on. */
async function stateOf(month: string): Promise<string> {
  const row = await running.stores.db.receiptArchive.findUnique({ where: { month: new Date(`${month}-01`) } });
  return row === null ? 'none' : `${row.state}${row.problem === null ? '' : `: ${row.problem}`}`;
}
async function faults(begun = 'NULL'): Promise<string[]> {
  const check = { ...options(), trust: trustIn(key), ...roundAtOnce };
  await running.stores.tamper(
    `UPDATE integrity_checks SET claimed_until = NULL, begun_at = ${begun}, finished_at = NULL`,
  );
  await checkNewestBatches(check);
  await checkBatches(check);
  await checkAll(check);
  await checkArchive(check);
  const found = await running.stores.db.integrityFault.findMany({
    where: { mendedAt: null },
    orderBy: [{ kind: 'asc' }, { name: 'asc' }, { number: 'asc' }],
  });
  return found.map(({ fault, kind, name, number }) => `${kind} ${name} ${number} ${fault}`);
}
const read = (id: string) => running.get(`/v1/gw/receipts/${id}`);
/** Returns a reply without the end of the log, which goes on. */
function lasting({ body }: { readonly body: string }): unknown {
  const { checkpoint: _, path: __, ...rest } = JSON.parse(body);
  return rest;
}
const idOf = (entry: Entry | undefined): string => entry?.receipt.id ?? expect.fail();

test('a month is archived, and its receipts are read, explained and proven as before', async () => {
  const month = '2025-01';
  const own = entriesOf(month, 5);
  const other = entriesOf(month, 3, 'acct_demo_enterprise');
  const next = entriesOf('2025-02', 2);
  await ensurePartitions(options().db, new Date('2025-02-01'), 1);
  // One batch is of two months.
  await stored(month, own.slice(0, 2), [...own.slice(2), ...other, ...next.slice(0, 1)], next.slice(1));
  const id = idOf(own[3]);
  const paths = ['', '/proof', '/routing'].map((of) => `/v1/gw/receipts/${id}${of}`).concat(`/v1/gw/lineage/${id}`);
  const readAll = () => Promise.all(paths.map((path) => running.get(path)));
  const before = await readAll();
  expect(before.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
  await archive(month);
  expect(await stateOf(month)).toBe('detached');
  expect(await running.stores.db.receipt.count()).toBe(2);
  expect((await readAll()).map(lasting)).toEqual(before.map(lasting));
  expect((await read(idOf(other[0]))).statusCode).toBe(404);
  expect((await read(idOf(entriesOf(month, 1)[0]))).statusCode).toBe(404);
  expect(await faults()).toEqual([]);
  const [signing, entry] = await readAudit(running.stores.db, accountId, { order: 'desc', limit: 2 });
  const note = await running.stores.db.receiptArchive.findFirst();
  expect(entry).toMatchObject({ action: 'gw.archived', target: 'receipts:2025-01' });
  expect(signing).toMatchObject({ action: 'receipt_log.signed', after: { tree_size: 8 } });
  // Each chain is held until the end, and everybody takes that of the operators last.
  const chains = await running.stores.db.$queryRaw<{ chain: string }[]>`
    SELECT chain FROM audit WHERE action = 'gw.archived' ORDER BY tableoid, ctid`;
  expect(chains.map(({ chain }) => chain)).toEqual([accountId, 'acct_demo_enterprise', 'operators']);
  expect(note?.note).toMatchObject({ receipts: 8, ...(entry?.after as object) });
  // Its sums stay.
  for (let n = 0; n < 20; n += 1) await checkAMinute({ db: options().db, log: silentLog });
  const usage = await running.get('/v1/usage?from=2025-01-01&to=2025-02-01');
  expect(usage.json().data.map(({ requests }: { requests: number }) => requests)).toEqual([5]);
});

test('nothing is added to an archived month, not even a genuine entry that is sent again', async () => {
  const [entry] = entriesOf('2025-01', 1);
  await expect(running.store(entry ?? expect.fail())).rejects.toThrow('receipts_archived');
  expect(await faults()).toEqual([]);
});

test('a month with settled receipts and later versions is archived whole', async () => {
  const month = '2025-03';
  await settleAnyAge(running.stores);
  const [first, late, again] = entriesOf(month, 3);
  if (first === undefined || late === undefined || again === undefined) expect.fail();
  await stored(month, [unattended(late, { shown: false }), first, again]);
  await running.store(late);
  await running.store(
    entryFrom(callAt(again.receipt.created_at), { changes: { id: again.receipt.id, version: 2, supersedes: 1 } }),
  );
  await stored(month);
  const paths = [idOf(late), `${idOf(again)}?version=1`, idOf(again), `${idOf(late)}/proof`].map(
    (id) => `/v1/gw/receipts/${id}`,
  );
  const readAll = () => Promise.all(paths.map(async (path) => lasting(await running.get(path))));
  const before = await readAll();
  await archive(month);
  expect(await stateOf(month)).toBe('detached');
  expect(await readAll()).toEqual(before);
  expect(await faults()).toEqual([]);
});

describe('what somebody does to an archived month is named', () => {
  const month = '2025-04';
  const entries = entriesOf(month, 4);
  const name = (kind: string) => `receipts/${month}/${kind}-0000001.jsonl.gz`;
  const loose = (file: string) => `receipts/${month}/${file}`;
  let part = '';
  beforeAll(async () => {
    await stored(month, entries.slice(0, 2), entries.slice(2));
    await archive(month);
    const [line = ''] = gunzipSync((await objects.get(name('rows'))) ?? expect.fail())
      .toString()
      .split('\n');
    part = `facts/${JSON.parse(JSON.parse(line).facts).parts.grid}.json`;
  });
  const tamper = (statement: string) => running.stores.tamper(statement);
  const missing = [expect.stringMatching(/^batch batches \d+ 2 of its 2 receipts, of .* are missing$/)];
  type Attack = readonly [
    what: string,
    attack: () => Promise<unknown>,
    mend: () => Promise<unknown>,
    expected: unknown[],
    status: number,
  ];
  let kept: Buffer | null = null;
  const take = (kind: string) => async () => {
    kept = await objects.get(name(kind));
    await objects.remove(name(kind));
  };
  const alter = (kind: string) => async () => {
    kept = await objects.get(name(kind));
    await objects.put(name(kind), Buffer.from('other'));
  };
  const putBack = (kind: string) => async () => objects.put(name(kind), kept ?? expect.fail());
  const attacks: Attack[] = [
    ['a file taken out of the store', take('rows'), putBack('rows'), [`archive ${name('rows')} 202504 missing`], 500],
    ['a file altered in the store', alter('rows'), putBack('rows'), [`archive ${name('rows')} 202504 altered`], 500],
    [
      'the entries taken out',
      take('entries'),
      putBack('entries'),
      [`archive ${name('entries')} 202504 missing`, ...missing, ...missing],
      200,
    ],
    [
      'the note replaced by one for other files',
      () =>
        tamper(
          `UPDATE receipt_archives SET note = replace(note::text, '"receipts":4', '"receipts":3')::json WHERE month = '2025-04-01'`,
        ),
      () =>
        tamper(
          `UPDATE receipt_archives SET note = replace(note::text, '"receipts":3', '"receipts":4')::json WHERE month = '2025-04-01'`,
        ),
      [`archive ${month} 202504 its note is not sealed by the gateway`, ...missing, ...missing],
      500,
    ],
  ];
  // The next test sees that nothing of an attack is left.
  test.each(attacks)('%s', async (_, attack, mend, expected, status) => {
    await attack();
    const found = await faults();
    const reply = await read(idOf(entries[1]));
    await mend();
    await running.stores.empty('integrity_faults');
    expect(found).toEqual(expect.arrayContaining(expected));
    expect(reply.statusCode).toBe(status);
  });

  test('what is beside the receipts: the list, the checkpoints, the note, and a part of facts', async () => {
    const names = [part, ...['checkpoints.jsonl', 'files.txt', 'note.json'].map(loose)];
    const told = (fault: string) => names.map((each) => `archive ${each} ${each === part ? 0 : 202504} ${fault}`);
    const own = new Map<string, Buffer>();
    for (const each of names) own.set(each, (await objects.get(each)) ?? expect.fail());
    for (const [each, bytes] of own) await objects.put(each, Buffer.from(bytes.toString().replace('1', '2')));
    expect(await faults()).toEqual(told('altered'));
    for (const each of names) await objects.remove(each);
    expect(await faults()).toEqual(told('missing'));
    for (const [each, bytes] of own) await objects.put(each, bytes);
    expect(await faults()).toEqual([]);
  });

  test('a note that somebody else has signed', async () => {
    const bytes = (await objects.get(loose('note.json'))) ?? expect.fail();
    const { signature: _, ...note } = JSON.parse(bytes.toString());
    const signature = await signed(note, signingKeyOf('e2'.repeat(32)));
    await objects.put(loose('note.json'), Buffer.from(JSON.stringify({ ...note, signature })));
    expect(await faults()).toEqual([`archive ${loose('note.json')} 202504 signed by an unknown key`]);
    await objects.put(loose('note.json'), bytes);
    expect(await faults()).toEqual([]);
  });

  test('a line taken out of the list of files', async () => {
    await tamper(
      `CREATE TABLE kept AS SELECT * FROM receipt_archive_files WHERE month = '2025-04-01' AND kind = 'rows'`,
    );
    await tamper(`DELETE FROM receipt_archive_files WHERE month = '2025-04-01' AND kind = 'rows'`);
    expect(await faults()).toEqual([`archive ${month} 202504 the list of its files is not the one that was sealed`]);
    await tamper('INSERT INTO receipt_archive_files SELECT * FROM kept');
    await tamper('DROP TABLE kept');
  });
});

test('a legal hold keeps a month in Postgres, before it is detached and before its partition is dropped', async () => {
  const month = '2025-06';
  const entries = entriesOf(month, 2);
  await stored(month, entries);
  const ofOne = { all: false, accounts: new Set([accountId]) };
  await archive(month, { held: async () => ofOne });
  expect(await stateOf(month)).toBe('asked: A legal hold is on acct_demo_audit.');
  await archiveMonths(options({ held: async () => ({ all: true, accounts: new Set() }) }));
  expect(await stateOf(month)).toBe('asked: A legal hold is on all accounts.');
  expect(await objects.get(`receipts/${month}/rows-0000001.jsonl.gz`)).toBeNull();
  // It is placed while the month is written.
  let asked = 0;
  await archiveMonths(options({ held: async () => (asked++ === 0 ? nobody : ofOne) }));
  expect(await stateOf(month)).toBe('frozen: A legal hold is on acct_demo_audit.');
  expect(await objects.get(`receipts/${month}/note.json`)).toBeNull();
  expect(await running.stores.db.receipt.count({ where: { id: idOf(entries[0]) } })).toBe(1);
  await archiveMonths(options());
  expect(await stateOf(month)).toBe('detached');
  const partitions = () =>
    running.stores.db.$queryRaw<object[]>`SELECT 1 FROM pg_class WHERE relname = 'detached_receipts_2025_06'`;
  await archiveMonths(options());
  expect(await partitions()).toHaveLength(1);
  await running.stores.tamper(
    `UPDATE receipt_archives SET detached_at = now() - INTERVAL '8 days' WHERE month = '2025-06-01'`,
  );
  const unchecked = 'detached: The check of the archive has not found it whole since the month was detached';
  const dropped = async () => {
    await archiveMonths(options());
    return stateOf(month);
  };
  await running.stores.tamper('UPDATE integrity_checks SET finished_at = NULL, whole_begun_at = NULL');
  expect(await dropped()).toContain(unchecked);
  // These may have come by before the month was detached.
  expect(await faults(`now() - INTERVAL '9 days'`)).toEqual([]);
  expect(await dropped()).toContain(unchecked);
  expect(await faults()).toEqual([]);
  await running.stores.tamper(
    `INSERT INTO integrity_faults (kind, name, number, fault) VALUES ('archive', 'x', 1, 'altered')`,
  );
  expect(await dropped()).toContain(unchecked);
  await running.stores.empty('integrity_faults');
  await archiveMonths(options({ held: async () => ofOne }));
  expect(await stateOf(month)).toBe('detached: A legal hold keeps the detached partition.');
  await archiveMonths(options());
  expect([await stateOf(month), await partitions()]).toEqual(['dropped', []]);
  expect((await read(idOf(entries[1]))).statusCode).toBe(200);
  expect(await faults()).toEqual([]);
});

/** Dies at its `n`th write. */
const dying = (n: number): ObjectStore => {
  let left = n;
  return {
    ...objects,
    put: async (name, bytes) => {
      left -= 1;
      if (left < 0) throw new Error('Killed here.');
      await objects.put(name, bytes);
    },
  };
};

test('an archive that dies at any moment goes on, and two instances at once make one', async () => {
  const month = '2025-07';
  const entries = [...entriesOf(month, 3), ...entriesOf(month, 2, 'acct_demo_enterprise')];
  await stored(month, entries);
  await ask(month);
  for (let n = 0; n < 12 && (await stateOf(month)) !== 'detached'; n += 1) {
    await archiveMonths(options({ objects: dying(n) })).catch(() => {});
    // Whoever has died holds its claim for a while.
    await options().db.$executeRaw`UPDATE receipt_archives SET claimed_until = NULL`;
    if (n < 3) expect((await read(idOf(entries[0]))).statusCode).toBe(200);
  }
  await Promise.all([archiveMonths(options()), archiveMonths(options())]);
  expect(await stateOf(month)).toBe('detached');
  expect((await read(idOf(entries[2]))).statusCode).toBe(200);
  expect(await faults()).toEqual([]);
});

test('a month waits until its settled grid values are in, and while one is frozen, those of other months are', async () => {
  const month = '2024-04';
  await stored(month, entriesOf(month, 1));
  const { db } = running.stores;
  // Its value serves until half past midnight.
  const note = () => db.$executeRaw`INSERT INTO restatements (zone, period_start, period_end, noted_at, due_at)
    VALUES ('DE', '2024-03-31T22:00:00Z', '2024-03-31T22:30:00Z', now(), '2024-04-01')`;
  await note();
  await archive(month);
  expect(await stateOf(month)).toBe('asked: Receipts of the month wait to be restated from settled grid data.');
  await db.restatement.deleteMany();
  await options().db.$executeRaw`SELECT freeze_receipt_month('2024-04-01'::date)`;
  await note();
  expect(await claim(options().db)).toBeNull();
  await db.$executeRaw`INSERT INTO restatements (zone, period_start, period_end, noted_at, due_at)
    VALUES ('FR', '2024-05-01T00:00:00Z', '2024-05-01T01:00:00Z', now(), '2024-05-01')`;
  expect(await claim(options().db)).toMatchObject({ zone: 'FR' });
  await archiveMonths(options());
  expect(await claim(options().db)).toMatchObject({ zone: 'DE' });
  await db.restatement.deleteMany();
  expect(await stateOf(month)).toBe('detached');
});

test('whoever has lost a month leaves the claim of the other alone', async () => {
  const month = '2024-01';
  await stored(month, entriesOf(month, 1));
  const tamper = (until: string) =>
    running.stores.tamper(`UPDATE receipt_archives SET claimed_until = ${until} WHERE month = '2024-01-01'`);
  const put: ObjectStore['put'] = async (name, bytes) => {
    await tamper(`now() + INTERVAL '90 s'`);
    await objects.put(name, bytes);
  };
  await archive(month, { objects: { ...objects, put } });
  const row = await running.stores.db.receiptArchive.findUniqueOrThrow({ where: { month: new Date(`${month}-01`) } });
  expect([row.state, row.claimedUntil, row.problem]).toEqual(['frozen', expect.any(Date), null]);
  await tamper('NULL');
  await archiveMonths(options());
  expect(await stateOf(month)).toBe('detached');
});

test('a month that fails keeps no later one from leaving', async () => {
  const [failing, later] = ['2024-02', '2024-03'];
  for (const month of [failing, later]) {
    await stored(month, entriesOf(month, 1));
    await ask(month);
  }
  const put: ObjectStore['put'] = async (name, bytes) => {
    if (name.startsWith(`receipts/${failing}`)) throw new Error('It is full.');
    await objects.put(name, bytes);
  };
  await expect(archiveMonths(options({ objects: { ...objects, put } }))).rejects.toThrow('It is full.');
  expect(await stateOf(failing)).toMatch(/^frozen: It broke off by a fault/);
  expect(await stateOf(later)).toBe('detached');
  await archiveMonths(options());
  expect(await stateOf(failing)).toBe('detached');
});

test('a month stays until its parts of facts and its note are stored, and is held up if Postgres lacks a part', async () => {
  const month = '2024-05';
  await stored(month, entriesOf(month, 1));
  await ask(month);
  // A store that says it has kept what it has lost.
  const losing = (lost: string): ObjectStore => ({
    ...objects,
    get: async (name) => (name.includes(lost) ? null : objects.get(name)),
    put: async (name, bytes) => (name.includes(lost) ? undefined : objects.put(name, bytes)),
  });
  await expect(archiveMonths(options({ objects: losing('facts/') }))).rejects.toThrow('did not keep facts/');
  const { tamper } = running.stores;
  await tamper('CREATE TABLE kept AS SELECT * FROM facts_parts');
  await tamper('TRUNCATE facts_parts');
  await archiveMonths(options({ objects: { ...objects } }));
  expect(await stateOf(month)).toMatch(
    /^frozen: A part of the facts of the month is missing or altered in facts_parts: [0-9a-f]{64}\.$/,
  );
  await tamper('INSERT INTO facts_parts SELECT * FROM kept');
  await tamper('DROP TABLE kept');
  await tamper('UPDATE receipt_archives SET rests_until = NULL');
  await expect(archiveMonths(options({ objects: losing('note.json') }))).rejects.toThrow(
    'did not keep receipts/2024-05',
  );
  await archiveMonths(options());
  expect(await stateOf(month)).toBe('detached');
});

test('a month stays that has receipts which are altered, or not logged yet, and it can be given up', async () => {
  const month = '2025-08';
  const [first, late] = entriesOf(month, 2);
  if (first === undefined || late === undefined) expect.fail();
  await ensurePartitions(options().db, new Date(`${month}-01`), 1);
  await running.store(first);
  await archive(month);
  expect(await stateOf(month)).toBe('asked: Receipts of the month are not in the log of their account yet.');
  await stored(month);
  await running.stores.tamper(`UPDATE receipts SET energy_wh = energy_wh + 1 WHERE id = '${idOf(first)}'`);
  await archiveMonths(options());
  const problem = `frozen: Version 1 of ${idOf(first)} is not genuine: altered.`;
  expect(await stateOf(month)).toBe(problem);
  // It rests, so nobody goes through its rows again at once.
  await running.stores.tamper(`UPDATE receipt_archives SET problem = 'As before.' WHERE problem IS NOT NULL`);
  await archiveMonths(options());
  expect(await stateOf(month)).toBe('frozen: As before.');
  await running.stores.tamper(
    `UPDATE receipt_archives SET rests_until = rests_until - INTERVAL '1 hour' WHERE state = 'frozen'`,
  );
  await archiveMonths(options());
  expect(await stateOf(month)).toBe(problem);
  await expect(running.store(late)).rejects.toThrow('receipts_archived');
  await options().db.$executeRaw`SELECT thaw_receipt_month('2025-08-01'::date)`;
  await running.stores.tamper(`UPDATE receipts SET energy_wh = energy_wh - 1 WHERE id = '${idOf(first)}'`);
  await running.store(late);
  expect(await stateOf(month)).toBe('given_up');
  await stored(month);
  expect(await faults()).toEqual([]);
});

test('a policy lets a month leave once no account keeps it any longer, and no month is frozen that may still change', async () => {
  const kept = (own: number | null) => async () => ({ of: (account: string) => (account === accountId ? own : 3) });
  const due = { ...options(), everyS: 1, fullS: 1 };
  await stored('2025-02');
  const before = await running.stores.db.receiptArchive.count();
  await askForDue({ ...due, kept: kept(null) });
  await askForDue({ ...due, kept: kept(3000) });
  expect(await running.stores.db.receiptArchive.count()).toBe(before);
  await askForDue({ ...due, kept: kept(12) });
  expect(await stateOf('2025-02')).toBe('asked');
  // Somebody has given it up, so somebody has to ask for it again.
  expect(await stateOf('2025-08')).toBe('given_up');
  const month = new Date().toISOString().slice(0, 7);
  await ask(month);
  await expect(options().db.$executeRaw`SELECT freeze_receipt_month(${`${month}-01`}::date)`).rejects.toThrow(
    '31 days',
  );
  await options().db.$executeRaw`SELECT thaw_receipt_month(${`${month}-01`}::date)`;
});

test('while the store is away, a receipt of an archived month is 503 and not 404, and others are served', async () => {
  const month = '2025-09';
  const [archived, other] = [entriesOf(month, 2), entriesOf('2026-09', 1)];
  await ensurePartitions(options().db, new Date('2026-09-01'), 1);
  await stored(month, archived, other);
  await archive(month);
  const nowhere = { ...bucket.settings, GW_OBJECTS_URL: 'http://127.0.0.1:1' };
  const app = await startTestApp(undefined, { ...running.stores, stop: async () => {} }, nowhere);
  const one = `/v1/gw/receipts/${idOf(archived[0])}`;
  for (const path of [one, `${one}/proof`, '/v1/gw/receipts?limit=100']) {
    const { headers, json, statusCode } = await app.get(path);
    expect([statusCode, json().error.code, headers['retry-after']], path).toEqual([503, 'overloaded', '10']);
    expect(json().error.message).toContain('archive');
  }
  expect((await app.get(`/v1/gw/receipts/${idOf(other[0])}`)).statusCode).toBe(200);
  await app.stop();
});

test('while the store is away, what Postgres has is checked, and nothing else is a fault or mended', async () => {
  const entries = entriesOf('2026-07', 2);
  await ensurePartitions(options().db, new Date('2026-07-01'), 1);
  await stored('2026-07', entries.slice(0, 1), entries.slice(1));
  const { tamper } = running.stores;
  const digestOf = (change: string) =>
    tamper(`UPDATE receipts SET content_sha256 = ${change} WHERE id = '${idOf(entries[0])}'`);
  await digestOf('reverse(content_sha256)');
  await tamper(
    `INSERT INTO integrity_faults (kind, name, number, fault, seen_at) VALUES ('batch', 'batches', 1, 'altered', '2026-01-01')`,
  );
  await tamper('UPDATE integrity_checks SET begun_at = NULL, finished_at = NULL, whole_begun_at = NULL');
  const away = { ...objects, get: () => Promise.reject(new ObjectsUnavailableError('It is away.')) };
  const found = async (store: ObjectStore): Promise<string[]> => {
    const check = { ...options({ objects: store }), trust: trustIn(key), ...roundAtOnce };
    await checkNewestBatches(check);
    expect(await checkBatches(check)).toBe(true);
    const rows = await running.stores.db.integrityFault.findMany({
      where: { mendedAt: null },
      orderBy: { number: 'asc' },
    });
    return rows.map(({ fault, kind, name }) => `${kind} ${name} ${fault}`);
  };
  const other = expect.stringMatching(/^batch batches other receipts or digests than the 1 that came with it/);
  expect(await found(away)).toEqual(['batch batches altered', other]);
  const round = await running.stores.db.integrityCheck.findUniqueOrThrow({ where: { kind: 'batch' } });
  expect(round.wholeBegunAt).toBeNull();
  // Whoever has to lock the receipts need not wait for the store.
  let reads = 0;
  const get: ObjectStore['get'] = async (name) => {
    reads += 1;
    if (reads === 1) await tamper('LOCK TABLE receipts IN ACCESS EXCLUSIVE MODE NOWAIT');
    return objects.get(name);
  };
  expect(await found({ ...objects, get })).toEqual([other]);
  expect(reads).toBeGreaterThan(0);
  await digestOf('reverse(content_sha256)');
  expect(await faults()).toEqual([]);
});

test('a month that is detached while receipts are selected is read from its files', async () => {
  const month = '2024-12';
  const entries = entriesOf(month, 2);
  await stored(month, entries);
  const { db, seals } = running.stores;
  let reads = 0;
  const meanwhile = new Proxy(db, {
    get: (target, name) =>
      name !== '$queryRaw'
        ? Reflect.get(target, name)
        : async (...statement: Parameters<typeof db.$queryRaw>) => {
            const rows = await target.$queryRaw(...statement);
            reads += 1;
            if (reads === 1) await archive(month);
            return rows;
          },
  });
  const ids = entries.map(idOf);
  const asked = { asked: { receipt_ids: ids }, period: null, most: 10 };
  const selected = await selectFew({ db: meanwhile, objects, seals }, accountId, asked);
  expect(await stateOf(month)).toBe('detached');
  expect(selected?.rows.map(({ id }) => id)).toEqual(ids);
  expect(selected?.excluded).toEqual([]);
});

test('lists of an account go on into archived months, in each order, and with filters', async () => {
  const account = 'acct_demo_audit_plus';
  const all: Entry[] = [];
  for (const month of ['2025-10', '2025-11', '2026-08']) {
    const entries = entriesOf(month, 3, account);
    // In another order than that of their calls.
    await stored(month, entries.slice(2), entries.slice(0, 2));
    all.push(...entries.slice(2), ...entries.slice(0, 2));
  }
  const again = all[1] ?? expect.fail();
  const changes = { id: again.receipt.id, version: 2, supersedes: 1 };
  await stored('2025-10', [entryFrom(callAt(again.receipt.created_at), { accountId: account, changes })]);
  const questions = [
    '',
    'order=asc',
    'order=arrival',
    'version=issued',
    'order=arrival&version=issued',
    'region=eu-north',
    'model=none',
  ];
  const pagesOf = async (question: string, limit: number): Promise<string[]> => {
    const found: string[] = [];
    for (let after = ''; ; ) {
      const reply = await running.get(`/v1/gw/receipts?limit=${limit}&${question}${after}`, {
        'x-gw-account-id': account,
      });
      const { data, has_more, last_id } = reply.json();
      found.push(...data.map(({ id, version }: { id: string; version: number }) => `${id} ${version}`));
      if (!has_more) return found;
      after = `&after=${last_id}`;
    }
  };
  const listAll = async () => {
    const found: string[][] = [];
    for (const question of questions) found.push(await pagesOf(question, 4));
    return found;
  };
  const before = await listAll();
  expect(before.map((list) => list.length)).toEqual([9, 9, 10, 9, 9, 9, 0]);
  await archive('2025-10');
  await archive('2025-11');
  expect(await stateOf('2025-11')).toBe('detached');
  expect(await listAll()).toEqual(before);
});

describe('one request reads 40 files at most', () => {
  const month = '2024-06';
  const account = 'acct_bound';
  const [entry] = entriesOf(month, 1, account);
  const id = idOf(entry);
  /** Files with nothing of the account, which came before its only receipt; their calls would be later ones. */
  const others = Array.from({ length: 45 }, (_, n) => ({
    number: n + 2,
    arrived: n + 1,
    id: `${leastId(new Date(Date.parse('2024-06-20T00:00:00Z') + n * 3_600_000))}-7000-8000-000000000000`,
  }));
  const nameOf = (number: number) => `receipts/${month}/rows-${String(number).padStart(7, '0')}.jsonl.gz`;
  beforeAll(async () => {
    await stored('2024-07', entriesOf('2024-07', 1));
    await stored(month, [entry ?? expect.fail()]);
    await archive('2024-07');
    await archive(month);
    const bytes = (await objects.get('receipts/2024-07/rows-0000001.jsonl.gz')) ?? expect.fail();
    for (const { number } of others) await objects.put(nameOf(number), bytes);
    await running.stores.tamper(`
      INSERT INTO receipt_archive_files
      SELECT '${month}-01', kind, o.number, sha256, bytes, count, '${account}', o.id, '${account}', o.id, 1, o.arrived, o.arrived
      FROM receipt_archive_files, json_to_recordset('${JSON.stringify(others)}') AS o (number int, arrived bigint, id text)
      WHERE month = '2024-07-01' AND kind = 'rows'`);
  });
  afterAll(() =>
    running.stores.tamper(
      `DELETE FROM receipt_archive_files WHERE kind = 'rows' AND month = '${month}-01' AND number > 1`,
    ),
  );

  test.each(['desc', 'asc', 'arrival'])('a page of a list (%s) ends early, and says where to go on', async (order) => {
    const pages: string[][] = [];
    for (let after = ''; pages.length < 5; ) {
      const reply = await running.get(`/v1/gw/receipts?order=${order}${after}`, { 'x-gw-account-id': account });
      const { data, has_more, last_id } = reply.json();
      pages.push(data.map((receipt: { id: string }) => receipt.id));
      if (!has_more) break;
      after = `&after=${last_id}`;
    }
    expect(pages).toEqual([[], [id]]);
  });

  test('a pack by a period or by ids is left to a job', async () => {
    const { db, seals } = running.stores;
    const period = { from: new Date(`${month}-01`), to: new Date('2024-07-01') };
    const ids = { receipt_ids: [id, ...others.map((other) => other.id)] };
    const select = (asked: ReceiptFilter, by: Period | null) =>
      selectFew({ db, objects, seals }, account, { asked, period: by, most: 1000 });
    expect(await select({}, period)).toBeNull();
    expect(await select(ids, null)).toBeNull();
    expect((await select({ receipt_ids: ids.receipt_ids.slice(0, 30) }, null))?.rows.map((row) => row.id)).toEqual([
      id,
    ]);
    const all = await selectReceipts({ db, objects, seals }, account, { asked: {}, period });
    expect(all.rows.map((row) => row.id)).toEqual([id]);
  });

  test('a place of the order of arrival with receipts in more than 400 files is refused for good, with the way out', async () => {
    const bytes = (await objects.get(nameOf(2))) ?? expect.fail();
    const numbers = Array.from({ length: 401 }, (_, n) => n + 1000);
    await Promise.all(numbers.map((number) => objects.put(nameOf(number), bytes)));
    await running.stores.tamper(`
      INSERT INTO receipt_archive_files
      SELECT month, kind, n, sha256, bytes, count, first_account, first_id, last_account, last_id, 1, 100, 100
      FROM receipt_archive_files, generate_series(1000, 1400) n
      WHERE month = '${month}-01' AND kind = 'rows' AND number = 2`);
    for (const order of oneOfEach(['arrival', 'asc'], () => 'of arrival')) {
      const path = `/v1/gw/receipts?order=${order}&after=100-1-${id}`;
      const { headers, json, statusCode } = await running.get(path, { 'x-gw-account-id': account });
      const { code, message, param } = json().error;
      expect([statusCode, code, param, headers['retry-after']], order).toEqual([
        400,
        'invalid_order',
        'order',
        undefined,
      ]);
      expect(message).toMatch(/More than 400 files .* order=desc, or request an evidence pack\.$/);
    }
    expect((await running.get('/v1/gw/receipts', { 'x-gw-account-id': account })).statusCode).toBe(200);
  });
});

test('operators see which months are archived, ask for one, and give it up', async () => {
  const tokens = await seedOperators(running.context);
  const target = findTarget({ GW_CONTROL_URL: running.operatorUrl, GW_OPERATOR_TOKEN: tokens.admin }, null);
  const gw = async (...args: string[]): Promise<string> => {
    let out = '';
    const print = (text: string) => {
      out += text;
    };
    const surroundings = { openApi: () => openOperatorApi(target), print, tell: print };
    const code = await runAdmin(['archive', ...args], surroundings).catch(({ message }: Error) => {
      out = message;
      return 1;
    });
    return `${code} ${out}`;
  };
  await stored('2025-12', entriesOf('2025-12', 1));
  expect(await gw('month', '2025-12')).toMatch(/^0 (.|\n)*state +asked/);
  expect(await gw('month', '2025-12')).toMatch(/^1 .*does not allow/);
  const put: ObjectStore['put'] = async (name, bytes) => {
    if (name.includes('/entries-')) throw new Error('Killed here.');
    await objects.put(name, bytes);
  };
  await archiveMonths(options({ objects: { ...objects, put } })).catch(() => {});
  const { id: admin } = await running.stores.db.operator.findFirstOrThrow({ where: { role: 'admin' } });
  const left = `given_up: Given up by ${admin}. Files of it that stay in the object store: 1 or more.`;
  expect(await gw('give-up', '2025-12')).toMatch(/^0 (.|\n)*state +given_up/);
  expect(await stateOf('2025-12')).toBe(left);
  expect(await running.stores.db.receiptArchiveFile.count({ where: { month: new Date('2025-12-01') } })).toBe(1);
  expect(await gw('give-up', '2025-12')).toMatch(/^1 .*does not allow/);
  expect(await gw('give-up', '2025-01')).toMatch(/^1 .*does not allow/);
  expect(await gw('month', new Date().toISOString().slice(0, 7))).toMatch(/^1 .*over for 31 days/);
  expect(await gw('month', '2025-13')).toMatch(/^1 /);
  expect(await gw('month', '2020-01')).toMatch(/^1 .*Postgres has no receipts of 2020-01/);
  expect(await gw('list')).toMatch(/2025-01 +detached +8 +test/);
  const actions = (await readAudit(running.stores.db, 'operators', { order: 'desc', limit: 2 })).map(
    ({ action, actor, after, target: what }) => `${action} ${what} ${actor.id} ${JSON.stringify(after)}`,
  );
  expect(actions).toEqual([
    `archive.given_up receipts:2025-12 ${admin} {"month":"2025-12","files":1}`,
    `archive.asked receipts:2025-12 ${admin} {"month":"2025-12"}`,
  ]);
  expect(await gw('month', '2025-12')).toMatch(/^0 (.|\n)*state +asked/);
  await archiveMonths(options());
  expect(await stateOf('2025-12')).toBe('detached');
});

test('whoever deletes a month and writes a note of an archive hides nothing', async () => {
  const month = '2025-05';
  const entries = entriesOf(month, 2);
  await stored(month, entries);
  await running.stores.tamper(`DELETE FROM receipts WHERE created_at >= '2025-05-01' AND created_at < '2025-06-01'`);
  // The note of another month, which is genuine there.
  await running.stores.tamper(`INSERT INTO receipt_archives (month, state, asked_by, note, detached_at)
    SELECT '2025-05-01', 'detached', 'x', note, now() FROM receipt_archives WHERE month = '2025-04-01'`);
  expect(await faults()).toEqual(
    expect.arrayContaining([
      'archive 2025-05 202505 its note is not sealed by the gateway',
      expect.stringMatching(/^batch batches \d+ 2 of its 2 receipts, of .* are missing$/),
      ...entries.map((entry) => `receipt ${idOf(entry)} 1 missing`),
    ]),
  );
  expect((await read(idOf(entries[0]))).statusCode).toBe(500);
});
