/** Whatever comes in whatever order, and however often: one chain of versions, and each call counted once. */

import { receiptSchema } from '@gw/contract/receipt';
import { assess, type CallFacts } from '@gw/methodology/assess';
import { cases } from '@gw/testing/cases';
import {
  callAt,
  catalogueOf,
  type Entry,
  entryFrom,
  hourly,
  ingest,
  modelOf,
  site,
  unattended,
  unknownModel,
  versionsOf,
} from '@gw/testing/control-plane/calls';
import {
  noFaults,
  type Stores,
  settleAnyAge,
  silentLog,
  startStores,
  testSeals,
} from '@gw/testing/control-plane/fixtures';
import { heardBefore, secondLook } from '@gw/testing/control-plane/restatements';
import { counters, dcgm, vllm } from '@gw/testing/control-plane/stub-prometheus';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GpuSettings } from '../gpu/config.ts';
import { openGpuJob } from '../gpu/job.ts';
import type { Prometheus, Series } from '../gpu/prometheus.ts';
import type { GridObservation } from '../grid/reading.ts';
import { storeReadings } from '../grid/store.ts';
import type { UsageQuestion } from '../usage/question.ts';
import { usageOf } from '../usage/usage.ts';
import { receiptLineage } from './lineage.ts';
import { recalculateDue } from './recalculate.ts';
import { restateDue } from './restate.ts';
import { readingInHistory } from './version-jobs.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
  await settleAnyAge(stores);
}, 120_000);
afterAll(() => stores?.stop());

const hour = '2026-11-21T09:00:00Z';
const sources = [{ zone: 'SWE', source: 'electricity-maps' as const, place: 'SE' }];
const accountId = 'acct_property';
const shared = {
  sources,
  restatesEarlier: false,
  now: () => new Date(),
  log: silentLog,
  faults: noFaults,
  seals: testSeals,
  signal: new AbortController().signal,
};

const steps = [
  'made',
  'closed',
  'shown',
  'recalculate',
  'restate',
  'measure',
  'settle',
  'settle again',
  'all jobs twice',
] as const;
type Step = (typeof steps)[number];

/** The call of one run: with known or unknown parameters, with an estimate or without a grid value, on counted GPUs or not. */
const calls = fc.record({
  isKnown: fc.boolean(),
  hasGrid: fc.boolean(),
  isCounted: fc.boolean(),
  minute: fc.integer({ min: 0, max: 59 }),
});
type Call = typeof calls extends fc.Arbitrary<infer T> ? T : never;
/** The value of the hour is settled at least once, anywhere among the steps. */
const orders = fc
  .record({ before: fc.array(fc.constantFrom(...steps)), after: fc.array(fc.constantFrom(...steps), { maxLength: 6 }) })
  .map(({ before, after }): Step[] => [...before.slice(0, 6), 'settle again', ...after]);

const region = { code: 'eu-north', name: '', country: '', gridZone: 'SWE', status: 'active' as const, preference: 0 };
const catalogue = catalogueOf([modelOf()], { regions: [region] });

const recalculate = async (): Promise<void> => {
  await stores.db.recalculation.updateMany({ data: { dueAt: new Date(0) } });
  const history = () => readingInHistory(stores, sources);
  await recalculateDue({ ...shared, db: stores.db, history, onRecalculated: () => {} }, catalogue);
};
/** Forgets the interval afterwards, unless it is noted meanwhile. */
const restate = async (): Promise<void> => {
  await secondLook(stores);
  await restateDue({ ...shared, db: stores.db, onRestated: () => {} });
};

const gpuSettings: GpuSettings = {
  deployments: new Map([[site.id, counters]]),
  prometheus: { baseUrl: '', headers: {} },
  refreshS: 10,
  marginS: 1,
  maxGapS: 60,
  giveUpS: 3600,
};

/** Every counter was read just before the call at `atS` and just after it. */
const prometheusAround = (atS: number): Prometheus => ({
  skewS: async () => 0,
  samples: async (selector): Promise<Series[]> => {
    const all = [dcgm('a', []), vllm('prompt', []), vllm('generation', [])];
    const growth = selector.startsWith('DCGM') ? 64_800 : 500;
    const values = { samples: [0, 1].map((n) => ({ atS: atS - 5 + 20 * n, value: 1000 + n * growth })) };
    return all
      .filter(({ metric }) => selector.startsWith(metric.__name__ ?? '?'))
      .map(({ metric }) => ({ labels: metric, ...values }));
  },
});

async function measure({ receipt }: Entry): Promise<void> {
  await stores.db.gpuMeasurement.updateMany({ data: { dueAt: new Date(0) } });
  const atMs = Date.parse(receipt.created_at);
  const prometheus = prometheusAround(atMs / 1000);
  const now = () => new Date(atMs + 60_000);
  const { db } = stores;
  await openGpuJob({
    db,
    settings: gpuSettings,
    prometheus,
    now,
    log: silentLog,
    seals: testSeals,
    onMeasured: () => {},
  })();
}

async function settle(gPerKwh: number): Promise<void> {
  const { periodStart, periodEnd, observedAt } = hourly(hour);
  const settled: GridObservation = {
    source: 'electricity-maps',
    zone: 'SWE',
    place: 'SE',
    gPerKwh,
    signal: 'average',
    kind: 'average',
    basis: 'lifecycle',
    isEstimated: false,
    settled: true,
    rawSha256: '0'.repeat(64),
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
    case 'measure':
      return measure(entry);
    case 'settle':
      return settle(60);
    case 'settle again':
      return settle(70);
    case 'all jobs twice':
      await Promise.all([recalculate(), restate(), measure(entry), recalculate(), restate(), measure(entry)]);
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
    const lineage = receiptLineage({ json: JSON.stringify(receipt), facts });
    expect(lineage.lineage === null).toBe(receipt.tier === 'degraded');
  }
}

/** The receipt that the client was shown, if that was reported; otherwise the one that the sidecar made, even if it was closed before. */
async function checkFirst(entry: Entry, wasShown: boolean): Promise<void> {
  const [first] = await versionsOf(stores.db, entry.receipt.id);
  expect(first?.receipt).toEqual(wasShown ? unattended(entry, { shown: true }).receipt : entry.receipt);
}

function factsOf({ hasGrid, isCounted, isKnown, minute }: Call): CallFacts {
  return callAt(`2026-11-21T09:${String(minute).padStart(2, '0')}:00Z`, {
    model: isKnown ? modelOf() : unknownModel,
    grid: hasGrid ? hourly(hour, { temporalMatch: 'fresh' }) : null,
    ...(isCounted && { telemetryFollows: true }),
  });
}

/** The newest version is made from all that is known in the end, wherever it was missing before. */
async function checkNewest(entry: Entry, facts: CallFacts, gPerKwh: number): Promise<void> {
  const newest = (await versionsOf(stores.db, entry.receipt.id)).at(-1);
  const { telemetryFollows, ...known } = facts;
  const telemetry = newest?.facts?.telemetry ?? null;
  const expected = assess({ ...known, telemetry, model: modelOf(), grid: hourly(hour, { gPerKwh }) });
  if (!expected.ok || newest === undefined) throw new Error('there are no numbers');
  const { carbon_g, energy_wh } = expected.impact;
  const tier = telemetryFollows ? 'telemetry' : 'parametric';
  expect(newest.receipt).toMatchObject({ tier, carbon_g, energy_wh, grid_intensity_g_per_kwh: gPerKwh });
  expect(newest.receipt).toMatchObject({ provider: site.provider, region: site.region, grid_zone: 'SWE' });
  expect(newest.facts?.telemetryFollows ?? false).toBe(false);
  for (const version of ['issued', 'restated'] as const) {
    const time = { from: new Date(hour), to: new Date('2026-11-22') };
    const asked = {
      accountId,
      version,
      simulated: 'exclude',
      currency: 'USD',
      interval: 'day',
      group_by: ['model'],
    } satisfies Partial<UsageQuestion>;
    const { data } = (await usageOf(stores.db, { ...time, ...asked })) ?? { data: [] };
    expect(data.map(({ requests }) => requests)).toEqual([1]);
    if (version === 'restated') expect(data[0]?.carbon_g).toBe(carbon_g);
  }
}

test('any order of ingestion, replays, settling, measuring and both jobs ends in the same newest version', async () => {
  await fc.assert(
    fc.asyncProperty(calls, orders, async (call, order) => {
      await stores.empty(
        'receipts',
        'usage_changes',
        'recalculations',
        'restatements',
        'grid_readings',
        'gpu_measurements',
      );
      await heardBefore(stores);
      const facts = factsOf(call);
      const entry = entryFrom(facts, { accountId, changes: { grid_zone: 'SWE' } });
      for (const step of order) await take(step, entry);
      // In the end the call has come, and each job has run; no value is settled anew, which would note its hour again.
      for (const step of ['made', 'measure', 'recalculate', 'restate'] as const) await take(step, entry);
      await checkChain(entry);
      await checkFirst(entry, order.includes('shown'));
      await checkNewest(entry, facts, order.findLast((step) => step.startsWith('settle')) === 'settle' ? 60 : 70);
      for (const left of [stores.db.recalculation, stores.db.gpuMeasurement]) expect(await count(left)).toBe(0);
    }),
    { numRuns: cases(300, 10) },
  );
});

const count = (table: { count(): Promise<number> }): Promise<number> => table.count();
