/** A month of receipts leaves Postgres: it is written, detached, read back, proven and checked, and every forgery of it is named. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { ensurePartitions } from '@gw/prisma/partitions';
import { startTestApp } from '@gw/testing/control-plane/app';
import { callAt, type Entry, entryFrom } from '@gw/testing/control-plane/calls';
import { silentLog } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import { afterAll, expect, test } from 'vitest';
import { openDirectory } from '../../shared/objects/directory.ts';
import { checkBatches, checkNewestBatches } from '../integrity/check-batches.ts';
import { appendReceipts } from '../log/append.ts';
import { sealOpen, signHeads } from '../log/heads.ts';
import { type ArchiveOptions, archiveMonths } from './archive-month.ts';
import { checkArchive } from './check-archive.ts';

const key = signingKeyOf('e1'.repeat(32));
const dir = mkdtempSync(join(tmpdir(), 'gw-archive-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const objects = openDirectory(dir);
const running = forFile(() => startTestApp(() => new Date(), undefined, { GW_OBJECTS_DIR: dir }));
const nobody = { all: false, accounts: new Set<string>() };

const options = (changes: Partial<ArchiveOptions> = {}): ArchiveOptions => {
  const { databases, redis, seals } = running.stores;
  return {
    db: databases.ledger,
    redis,
    seals,
    log: silentLog,
    now: () => new Date(),
    objects,
    key,
    held: async () => nobody,
    ...changes,
  };
};
const accountId = 'acct_demo_audit';
const at = (month: string, n: number) => new Date(Date.parse(`${month}-10T00:00:00Z`) + n * 3_600_000).toISOString();
const entriesOf = (month: string, count: number, account = accountId): Entry[] =>
  Array.from({ length: count }, (_, n) => entryFrom(callAt(at(month, n)), { accountId: account }));

async function stored(month: string, ...batches: readonly (readonly Entry[])[]): Promise<void> {
  const { stores } = running;
  await ensurePartitions(stores.databases.ledger, new Date(`${month}-01`), 1);
  for (const batch of batches) await running.store(...batch);
  await appendReceipts({ db: stores.databases.ledger, now: () => new Date(), key, seals: stores.seals });
  await sealOpen({ ...options() }, 0);
  await signHeads({ ...options() });
}
const ask = (month: string) =>
  running.stores.databases.ledger
    .$executeRaw`INSERT INTO receipt_archives (month, asked_by) VALUES (${`${month}-01`}::date, 'test')`;
const archives = async () =>
  (await running.stores.db.receiptArchive.findMany({ orderBy: { month: 'asc' } })).map(({ month, problem, state }) => [
    month.toISOString().slice(0, 7),
    state,
    problem,
  ]);
const signal = new AbortController().signal;
async function faults(): Promise<string[]> {
  const { stores } = running;
  const check = { ...options(), db: stores.databases.ledger, fullS: 0, signal };
  await checkNewestBatches(check);
  await checkBatches(check);
  await checkArchive(check);
  const found = await stores.db.integrityFault.findMany({
    where: { mendedAt: null },
    orderBy: [{ kind: 'asc' }, { name: 'asc' }],
  });
  return found.map(({ fault, kind, name, number }) => `${kind} ${name} ${number} ${fault}`);
}
const read = (id: string, path = '') => running.get(`/v1/gw/receipts/${id}${path}`);

test('a month is archived, and its receipts are read, explained and proven as before', async () => {
  const month = '2025-01';
  const own = entriesOf(month, 5);
  const other = entriesOf(month, 3, 'acct_demo_enterprise');
  const next = entriesOf('2025-02', 2);
  await ensurePartitions(running.stores.databases.ledger, new Date('2025-02-01'), 1);
  // One batch is of two months.
  await stored(month, own.slice(0, 2), [...own.slice(2), ...other, ...next.slice(0, 1)], next.slice(1));
  const id = own[3]?.receipt.id ?? '';
  const paths = [`/v1/gw/receipts/${id}`, `/v1/gw/receipts/${id}/proof`, `/v1/gw/lineage/${id}`];
  const readAll = () => Promise.all(paths.map((path) => running.get(path)));
  const before = await readAll();
  expect(before.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
  await ask(month);
  await archiveMonths(options());
  expect(await archives()).toEqual([[month, 'detached', null]]);
  expect(await running.stores.db.receipt.count()).toBe(2);
  const after = await readAll();
  expect(after.map(({ body }) => body)).toEqual(before.map(({ body }) => body));
  expect(await faults()).toEqual([]);
});
