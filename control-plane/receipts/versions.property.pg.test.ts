/** Whatever comes in whatever order, and however often: one chain of versions, and each call counted once. */
import { receiptSchema } from '@gw/contract/receipt';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Stores, silentLog, startStores } from '../fixtures-for-tests.ts';
import type { GridObservation } from '../grid/reading.ts';
import { storeReadings } from '../grid/store.ts';
import { usageOf } from '../usage/usage.ts';
import {
  callAt,
  catalogueOf,
  type Entry,
  entryFrom,
  hourly,
  ingest,
  modelOf,
  unattended,
  unknownModel,
  versionsOf,
} from './calls-for-tests.ts';
import { receiptLineage } from './lineage.ts';
import { recalculateDue } from './recalculate.ts';
import { restateDue } from './restate.ts';
import { readingInHistory } from './version-jobs.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
}, 120_000);
afterAll(() => stores?.stop());

const hour = '2026-11-21T09:00:00Z';
const sources = [{ zone: 'SWE', source: 'electricity-maps' as const, place: 'SE' }];
const accountId = 'acct_property';
const shared = { sources, now: () => new Date(), log: silentLog, signal: new AbortController().signal };

const steps = [
  'made',
  'closed',
  'shown',
  'recalculate',
  'restate',
  'settle',
  'settle again',
  'both jobs twice',
] as const;
type Step = (typeof steps)[number];

/** The call of one run: with known or unknown parameters, with an estimate or without a grid value. */
const calls = fc.record({ isKnown: fc.boolean(), hasGrid: fc.boolean(), minute: fc.integer({ min: 0, max: 59 }) });

const region = { code: 'eu-north', name: '', country: '', gridZone: 'SWE', status: 'active' as const, preference: 0 };
const catalogue = catalogueOf([modelOf()], { regions: [region] });

const recalculate = async (): Promise<void> => {
  await stores.db.recalculation.updateMany({ data: { dueAt: new Date(0) } });
  const readingAt = readingInHistory(stores, sources);
  await recalculateDue({ ...shared, db: stores.db, readingAt, onRecalculated: () => {} }, catalogue);
};
const restate = async (): Promise<void> => {
  await stores.db.restatement.updateMany({ data: { dueAt: new Date(0) } });
  await restateDue({ ...shared, db: stores.db, onRestated: () => {} });
};

async function settle(gPerKwh: number): Promise<void> {
  const { periodStart, periodEnd, observedAt } = hourly(hour);
  const settled: GridObservation = {
    ...{ source: 'electricity-maps', zone: 'SWE', place: 'SE', gPerKwh, signal: 'average', kind: 'average' },
    ...{ basis: 'lifecycle', isEstimated: false, settled: true, rawSha256: '0'.repeat(64) },
    periodStart: new Date(periodStart),
    periodEnd: new Date(periodEnd),
    observedAt: new Date(observedAt),
    fetchedAt: new Date(),
  };
  await storeReadings(stores.db, [settled]);
}

async function take(step: Step, entry: Entry): Promise<void> {
  switch (step) {
    case 'made':
      return ingest(stores.db, entry);
    case 'closed':
      return ingest(stores.db, unattended(entry, { shown: false }));
    case 'shown':
      return ingest(stores.db, unattended(entry, { shown: true }), entry);
    case 'recalculate':
      return recalculate();
    case 'restate':
      return restate();
    case 'settle':
      return settle(60);
    case 'settle again':
      return settle(70);
    case 'both jobs twice':
      await Promise.all([recalculate(), restate(), recalculate(), restate()]);
  }
}

/** The chain has no gap, every version is a receipt of the same call, and its lineage gives its numbers. */
async function checkChain(entry: Entry): Promise<void> {
  const versions = await versionsOf(stores.db, entry.receipt.id);
  expect(versions.map(({ receipt }) => [receipt.version, receipt.supersedes])).toEqual(
    versions.map((_, index) => [index + 1, index === 0 ? null : index]),
  );
  for (const { facts, receipt } of versions) {
    receiptSchema.parse(receipt);
    const { created_at, id, model, request_id, requested_tier, status } = entry.receipt;
    expect(receipt).toMatchObject({ created_at, id, model, request_id, requested_tier, status });
    const lineage = receiptLineage({ json: JSON.stringify(receipt), facts: JSON.stringify(facts), pending: false });
    expect(lineage.lineage === null).toBe(receipt.tier === 'degraded');
  }
}

test('any order of ingestion, replays, recalculation and restatement ends in the same newest version', async () => {
  await fc.assert(
    fc.asyncProperty(calls, fc.array(fc.constantFrom(...steps), { maxLength: 12 }), async (call, order) => {
      await stores.db.$executeRaw`TRUNCATE receipts, recalculations, restatements, grid_readings`;
      const facts = callAt(`2026-11-21T09:${String(call.minute).padStart(2, '0')}:00Z`, {
        model: call.isKnown ? modelOf() : unknownModel,
        grid: call.hasGrid ? hourly(hour, { temporalMatch: 'fresh' }) : null,
      });
      const entry = entryFrom(facts, { accountId, changes: { grid_zone: 'SWE' } });
      for (const step of order) await take(step, entry);
      // In the end everything has come, and the jobs have run.
      for (const step of ['made', 'settle again', 'recalculate', 'restate'] as const) await take(step, entry);
      await checkChain(entry);
      expect(await stores.db.recalculation.count()).toBe(0);
      const newest = (await versionsOf(stores.db, entry.receipt.id)).at(-1)?.receipt;
      const expected = entryFrom({ ...facts, model: modelOf(), grid: hourly(hour, { gPerKwh: 70 }) }).receipt;
      expect(newest?.carbon_g).toBe(expected.carbon_g);
      for (const version of ['issued', 'restated'] as const) {
        const rows = await usageOf(stores.db, accountId, new Date(hour), new Date('2026-11-22'), version);
        expect(rows.map(({ requests }) => requests)).toEqual([1]);
        if (version === 'restated') expect(rows[0]?.carbon_g).toBe(expected.carbon_g);
      }
    }),
    { numRuns: 40 },
  );
}, 120_000);
