import { deadLedgerStream, ledgerStream } from '@gw/contract/internal/redis';
import { openDatabase } from '@gw/prisma/client';
import { untilReady } from '@gw/service/redis';
import { seedOperators } from '@gw/testing/control-plane/access';
import { runAs } from '@gw/testing/control-plane/admin';
import { startTestApp } from '@gw/testing/control-plane/app';
import { entryOf, eventually, silentLog, testEntries } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import { sealedEntry } from '@gw/testing/ledger-entry';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { startIngester } from './ingest.ts';

const running = forFile(startTestApp);
let tokens: Awaited<ReturnType<typeof seedOperators>>;
beforeAll(async () => {
  tokens = await seedOperators(running.context);
});
beforeEach(() => running.context.redis.del(deadLedgerStream, ledgerStream));

const setAside = (entry: string | Buffer, reason = 'the database refuses its values') =>
  running.context.redis.xadd(deadLedgerStream, '*', 'entry', entry, 'reason', reason);
const lengths = () => Promise.all([deadLedgerStream, ledgerStream].map((name) => running.context.redis.xlen(name)));

const gw = async (line: string, token = tokens.admin) => (await runAs(running, token, line.split(' '))).out;

test('an operator sees what was set aside and why, and has it stored once the cause is mended', async () => {
  const { context, stores } = running;
  const { redis } = context;
  expect(await gw('receipts set-aside')).toBe('Nothing was set aside.\n');
  // The first could be stored by now; the second never can.
  const entry = entryOf();
  await setAside(sealedEntry(entry));
  await setAside('prompt of a customer', 'it is no entry of this format');
  for (let n = 0; n < 150; n++) await setAside(sealedEntry(entryOf()));

  const listed = JSON.parse(await gw('receipts set-aside --json', tokens.viewer));
  expect(listed).toHaveLength(152);
  expect(listed[0]).toMatchObject({ receipt_id: entry.receipt.id, account_id: entry.accountId });
  expect(listed[1]).toMatchObject({ receipt_id: null, account_id: null, reason: 'it is no entry of this format' });
  expect(JSON.stringify(listed)).not.toContain('prompt');

  await expect(gw('receipts retry', tokens.viewer)).rejects.toThrow(/needs the operator role admin/);
  expect(await redis.xlen(deadLedgerStream)).toBe(152);
  expect(await gw('receipts retry')).toMatch(/^152 entries are tried again/);
  const blocking = redis.duplicate();
  await untilReady(blocking, 5000);
  const ingester = startIngester({
    db: stores.db,
    redis: blocking,
    log: silentLog,
    seals: stores.seals,
    entries: testEntries,
    consumer: 'one',
  });
  await eventually(async () => (await redis.xlen(ledgerStream)) === 0);
  await ingester.stop();
  blocking.disconnect();
  expect(await stores.db.receipt.count()).toBe(151);
  expect(JSON.parse(await gw('receipts set-aside --json'))).toMatchObject([
    { reason: 'it is no entry of this format' },
  ]);
  expect(await stores.db.auditEntry.findMany({ where: { action: 'receipts.retried' } })).toMatchObject([
    { actorId: 'op_admin', after: { count: 152 } },
  ]);
});

test('one call hands over a bounded number of entries, and says how many are left', async () => {
  for (let n = 0; n < 1001; n++) await setAside(`${n}`);
  expect(JSON.parse(await gw('receipts retry --json'))).toMatchObject({ retried: 1000, left: 1 });
  expect(await lengths()).toEqual([1, 1000]);
  expect(await gw('receipts retry')).toMatch(/^1 entry is tried again/);
  expect(await lengths()).toEqual([0, 1001]);
  expect(await gw('receipts retry')).toBe('Nothing was set aside.\n');
  await setAside('one more');
  for (let n = 0; n < 1000; n++) await setAside(`${n}`);
  expect(await gw('receipts retry')).toMatch(/1 more are left: run this again/);
});

test('nothing is handed over whose entry in the audit log is not committed', async () => {
  const owner = openDatabase(running.stores.postgres.url, { connections: 1 });
  await setAside('not json');
  // Fails at the commit, when all else of the transaction is done.
  await owner.$executeRawUnsafe(`
    CREATE FUNCTION refuse_at_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused at the commit'; END $$`);
  await owner.$executeRawUnsafe(`
    CREATE CONSTRAINT TRIGGER refuse_at_commit AFTER INSERT ON audit DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION refuse_at_commit()`);
  try {
    await expect(gw('receipts retry')).rejects.toThrow(/internal/);
    expect(await lengths()).toEqual([1, 0]);
  } finally {
    await owner.$executeRawUnsafe('DROP TRIGGER refuse_at_commit ON audit');
    await owner.$disconnect();
  }
  await gw('receipts retry');
  expect(await lengths()).toEqual([0, 1]);
});
