/** Whoever reads the ledger on from the last row sees every version once, whatever is written meanwhile. */
import type { LedgerQuery } from '@gw/contract/management';
import { callAt, entryFrom, ingest, unattended } from '@gw/testing/control-plane/calls';
import { entryOf, receiptIdAt, startStores, testSeals } from '@gw/testing/control-plane/fixtures';
import { storeEntries } from '@gw/testing/control-plane/store-entries';
import { forFile } from '@gw/testing/for-file';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isCursor, ledgerPage } from './ledger.ts';

const stores = forFile(startStores);
let slow: pg.Client;
beforeAll(async () => {
  slow = new pg.Client({ connectionString: stores.postgres.url });
  await slow.connect();
}, 60_000);
afterAll(() => slow.end());

interface Follower {
  /** Returns the ids and versions that came since the last read. */
  read(): Promise<string[]>;
}

function follower(accountId: string, changes: Partial<LedgerQuery> = {}): Follower {
  let after: string | null = null;
  return {
    async read() {
      const seen: string[] = [];
      for (;;) {
        const query: LedgerQuery = { limit: 2, order: 'arrival', version: 'restated', ...changes };
        const page = await ledgerPage(stores, accountId, after === null ? query : { ...query, after });
        seen.push(...page.rows.map(({ id, json }) => `${id} ${JSON.parse(json).version}`));
        after = page.lastId ?? after;
        if (!page.hasMore) return seen;
      }
    },
  };
}

test.each(['arrival', 'asc'] as const)(
  'by %s, a row whose transaction began first and ends last is not missed',
  async (order) => {
    const accountId = `acct_late_${order}`;
    const [late, early] = [entryOf({}, accountId), entryOf({}, accountId)];
    await ingest(stores.db, late);
    const reader = follower(accountId, { order });
    // The same row again, by a transaction that does not end.
    await slow.query(`CREATE TEMPORARY TABLE kept_${order} AS SELECT * FROM receipts WHERE id = '${late.receipt.id}'`);
    await stores.tamper(`DELETE FROM receipts WHERE id = '${late.receipt.id}'`);
    await slow.query('BEGIN');
    await slow.query(`UPDATE kept_${order} SET arrived = current_arrival()`);
    await slow.query(`INSERT INTO receipts SELECT * FROM kept_${order}`);
    await ingest(stores.db, early);
    expect(await reader.read(), 'nothing is certain behind a transaction that is still running').toEqual([]);
    await slow.query('COMMIT');
    expect(await reader.read()).toEqual([`${late.receipt.id} 1`, `${early.receipt.id} 1`]);
    expect(await reader.read()).toEqual([]);
  },
);

test('a transaction of another database holds nobody up', async () => {
  const accountId = 'acct_elsewhere';
  const address = new URL(stores.postgres.url);
  address.pathname = '/postgres';
  const elsewhere = new pg.Client({ connectionString: address.href });
  await elsewhere.connect();
  await elsewhere.query('BEGIN');
  await elsewhere.query('SELECT pg_current_xact_id()');
  const entry = entryOf({}, accountId);
  await ingest(stores.db, entry);
  expect(await follower(accountId).read()).toEqual([`${entry.receipt.id} 1`]);
  await elsewhere.end();
});

test('a call that was running while later ones ended is read behind them', async () => {
  const accountId = 'acct_long';
  const now = Date.now();
  const [long, ...short] = [0, 1, 2, 3].map((s) => entryOf({ id: receiptIdAt(new Date(now + s)) }, accountId));
  const readers = [follower(accountId), follower(accountId, { order: 'asc' })];
  await ingest(stores.db, ...short);
  const ids = short.map(({ receipt }) => `${receipt.id} 1`);
  for (const reader of readers) expect(await reader.read()).toEqual(ids);
  if (long) await ingest(stores.db, long);
  for (const reader of readers) expect(await reader.read()).toEqual([`${long?.receipt.id} 1`]);
});

test('each version comes once, and one that was closed for its sidecar comes again as it was made', async () => {
  const accountId = 'acct_versions';
  const entry = entryFrom(callAt(new Date().toISOString()), { accountId });
  const { id } = entry.receipt;
  const [all, issued] = [follower(accountId), follower(accountId, { version: 'issued' })];
  await ingest(stores.db, unattended(entry, { shown: false }));
  expect(await all.read()).toEqual([`${id} 1`]);
  await storeEntries(stores.db, [entry], testSeals);
  expect(await all.read()).toEqual([`${id} 1`]);
  await ingest(stores.db, entryOf({ ...entry.receipt, version: 2, supersedes: 1 }, accountId));
  expect(await all.read()).toEqual([`${id} 2`]);
  expect(await issued.read()).toEqual([`${id} 1`]);
});

test('what changes nothing that is listed does not list a receipt again', async () => {
  const accountId = 'acct_late_facts';
  const entry = entryFrom(callAt(new Date().toISOString()), { accountId });
  const all = follower(accountId);
  await ingest(stores.db, { ...entry, facts: null });
  expect(await all.read()).toEqual([`${entry.receipt.id} 1`]);
  await storeEntries(stores.db, [entry], testSeals);
  const [row] = await stores.db.$queryRaw<{ has_facts: boolean }[]>`
    SELECT facts IS NOT NULL OR compressed IS NOT NULL AS has_facts FROM receipts WHERE id = ${entry.receipt.id}`;
  expect(row?.has_facts).toBe(true);
  expect(await all.read()).toEqual([]);
});

test('a receipt that is not in the ledger yet has nothing behind it; what is no cursor is told apart', async () => {
  const accountId = 'acct_cursor';
  await ingest(stores.db, entryOf({}, accountId));
  for (const order of ['asc', 'arrival'] as const) {
    const after = receiptIdAt(new Date());
    expect((await ledgerPage(stores, accountId, { limit: 5, version: 'restated', order, after })).lastId).toBeNull();
  }
  for (const after of [
    '1',
    '1-1-x',
    `x-1-${receiptIdAt(new Date())}`,
    `${'9'.repeat(30)}-1-${receiptIdAt(new Date())}`,
  ])
    expect(isCursor({ after, order: 'arrival' }), after).toBe(false);
  expect(isCursor({ after: `5-1-${receiptIdAt(new Date())}`, order: 'desc' })).toBe(false);
  // A page of `asc` that read as many archived files as it may ends in front of a receipt.
  expect(isCursor({ after: `5-1-${receiptIdAt(new Date())}`, order: 'asc' })).toBe(true);
});

test('in a cluster that counts its transactions anew, new rows stand behind those that came from the dump', async () => {
  const accountId = 'acct_demo_audit';
  await ingest(stores.db, entryOf({}, accountId));
  const reader = follower(accountId);
  expect(await reader.read()).toHaveLength(1);
  // As after a restore: the rows are from a cluster that had counted further, and so is the identifier.
  await stores.tamper(`UPDATE receipts SET arrived = arrived + 1000000000 WHERE account_id = '${accountId}'`);
  await stores.tamper('UPDATE arrival_base SET system_identifier = 1');
  await stores.tamper('SELECT continue_arrivals()');
  expect(await reader.read(), 'the rows of the dump').toHaveLength(1);
  const entry = entryOf({}, accountId);
  await ingest(stores.db, entry);
  expect(await reader.read()).toEqual([`${entry.receipt.id} 1`]);
});
