/** Receipts of ten years: each page is the part of one list that it says, and what is asked for often is as cheap as in the first month. */

import { dayMs } from '@gw/contract/internal/durations';
import type { LedgerQuery } from '@gw/contract/management';
import { Prisma, type Queryable } from '@gw/prisma/client';
import { ensurePartitions } from '@gw/prisma/partitions';
import { callAt, entryFrom, ingest } from '@gw/testing/control-plane/calls';
import { receiptIdAt, type Stores, silentLog, startStores, testEntries } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { findReceipt } from './find-receipt.ts';
import { ledgerPage } from './ledger.ts';

const [busy, rare] = ['acct_demo_enterprise', 'acct_demo_audit'] as const;
const now = Date.now();
const stores = forFile(startStores);

/** The receipts of the rare account, oldest first: a few in a row, none for years, and two at the end of the first search range. */
const rareDays = [3600, 3590, 3589, 1500, 1499, 700, 361, 63, 62 + 1 / dayMs, 62, 61, 41, 40, 3, 0];
let rareIds: readonly string[];

beforeAll(async () => {
  const entry = (accountId: string, daysAgo: number) =>
    entryFrom(callAt(new Date(now - Math.round(daysAgo * dayMs)).toISOString()), { accountId });
  const ofRare = rareDays.map((daysAgo) => entry(rare, daysAgo));
  rareIds = ofRare.map(({ receipt }) => receipt.id);
  const ofBusy = Array.from({ length: 120 }, (_, at) => entry(busy, at / 10));
  await ingest(stores.db, ...ofRare, ...ofBusy);
});

const query = (changes: Partial<LedgerQuery>): LedgerQuery => ({
  limit: 50,
  order: 'desc',
  version: 'restated',
  ...changes,
});

test('pages follow each other through all years, in both orders, without a hole or a repetition', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('asc', 'desc'), fc.integer({ min: 1, max: 6 }), async (order, limit) => {
      const ids: string[] = [];
      for (let page = 0; page < 20; page += 1) {
        const after = ids.at(-1);
        const { hasMore, rows } = await ledgerPage(stores, rare, query({ order, limit, ...(after && { after }) }));
        ids.push(...rows.map(({ id }) => id));
        if (!hasMore) break;
      }
      expect(ids).toEqual(order === 'asc' ? rareIds : rareIds.toReversed());
    }),
    { numRuns: 12 },
  );
  // One page over the end of what is looked at first, which lies 62 days behind its cursor.
  const [newest, ...others] = rareIds.toReversed();
  const { rows } = await ledgerPage(stores, rare, query({ after: newest ?? '', limit: 10 }));
  expect(rows.map(({ id }) => id)).toEqual(others.slice(0, 10));
});

/** The cost of a read: the blocks that were read, and the tables and indexes that were planned. */
async function costOf(read: (db: Stores['db']) => Promise<unknown>): Promise<{ blocks: number; relations: number }> {
  const cost = { blocks: 0, relations: 0 };
  const explained = async <Row>(template: Prisma.Sql | TemplateStringsArray, ...values: unknown[]): Promise<Row> => {
    const asked = 'raw' in template ? Prisma.sql(template, ...values) : template;
    const [plan] = await stores.db.$queryRaw<{ 'QUERY PLAN': [{ Plan: Plan }] }[]>`
      EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${asked}`;
    const root = plan?.['QUERY PLAN'][0].Plan;
    if (root === undefined) throw new Error('There is no plan.');
    cost.blocks += root['Shared Hit Blocks'] + root['Shared Read Blocks'];
    cost.relations += relationsOf(root);
    return stores.db.$queryRaw<Row>(asked);
  };
  await read({ $queryRaw: explained } as unknown as Queryable as Stores['db']);
  return cost;
}

interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly Plan[];
}
const relationsOf = (plan: Plan): number =>
  (plan['Relation Name'] === undefined ? 0 : 1) + (plan.Plans ?? []).reduce((sum, each) => sum + relationsOf(each), 0);

test('the newest page of an account, a page further back and one receipt cost no more after ten years of months', async () => {
  const id = receiptIdAt(new Date(now - 3 * dayMs));
  const readings = {
    newest: (db: Stores['db']) => ledgerPage({ ...stores, db }, busy, query({})),
    'further back': (db: Stores['db']) => ledgerPage({ ...stores, db }, busy, query({ after: id, limit: 20 })),
    'one receipt': (db: Stores['db']) =>
      findReceipt({ ...stores, db, log: silentLog, entries: testEntries }, busy, id, undefined),
  };
  const costs = async () => {
    await stores.tamper('ANALYZE receipts');
    const entries = Object.entries(readings).map(async ([name, read]) => [name, await costOf(read)] as const);
    return Object.fromEntries(await Promise.all(entries));
  };
  const before = await costs();
  expect(await ensurePartitions(stores.db, new Date(now - 3650 * dayMs), 121)).toBeGreaterThan(100);
  const [large] = await stores.db.$queryRaw<{ parts: number }[]>`
    SELECT count(*)::int AS parts FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid
    WHERE i.inhparent = 'receipts'::regclass AND 'toast_tuple_target=4080' <> ALL (coalesce(c.reloptions, '{}'))`;
  expect(large?.parts, 'months whose rows would not lie in one piece').toBe(0);
  const after = await costs();
  for (const [name, { blocks, relations }] of Object.entries(after)) {
    expect(relations, name).toBeLessThanOrEqual((before[name]?.relations ?? 0) + 6);
    // Half of what one block of each month would be; tables as small as these are now read whole, now by an index.
    expect(blocks, name).toBeLessThanOrEqual((before[name]?.blocks ?? 0) + 60);
  }
});
