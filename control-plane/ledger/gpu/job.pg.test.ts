import type { Receipt } from '@gw/contract/receipt';
import { assess, type CallFacts } from '@gw/methodology/assess';
import {
  callAt,
  catalogueOf,
  type Entry,
  entryFrom,
  ingest,
  modelOf,
  rowsOf,
  site,
  unattended,
  unknownModel,
  versionsOf,
} from '@gw/testing/control-plane/calls';
import { noFaults, type Stores, silentLog, startStores, testSeals } from '@gw/testing/control-plane/fixtures';
import {
  counters,
  dcgm,
  type StubPrometheus,
  startStubPrometheus,
  vllm,
} from '@gw/testing/control-plane/stub-prometheus';
import { httpAt } from '@gw/testing/control-plane/stub-source';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { receiptLineage } from '../receipts/lineage.ts';
import { recalculateDue } from '../receipts/recalculate.ts';
import type { GpuSettings } from './config.ts';
import { openGpuJob } from './job.ts';
import { prometheusAt } from './prometheus.ts';

let stores: Stores;
let stub: StubPrometheus;
let now = new Date('2026-11-21T09:31:00.000Z');
const at = '2026-11-21T09:30:03.000Z';
const scraped = Date.parse('2026-11-21T09:30:00.000Z') / 1000;

beforeAll(async () => {
  stores = await startStores();
  stub = await startStubPrometheus(() => now);
}, 120_000);
afterAll(async () => {
  await stub?.stop();
  await stores?.stop();
});
beforeEach(() => {
  now = new Date('2026-11-21T09:31:00.000Z');
});
afterEach(() => stores.empty('receipts', 'gpu_measurements', 'recalculations'));

const settings: GpuSettings = {
  deployments: new Map([['gpu', counters]]),
  prometheus: { baseUrl: '', headers: {} },
  refreshS: 10,
  marginS: 1,
  maxGapS: 60,
  giveUpS: 3600,
};
const gpuSite = { ...site, id: 'gpu', telemetry: 'gpu_counters', accelerators: { model: 'H100', count: 2 } };
const gpuCall = (changes: Partial<CallFacts> = {}): CallFacts =>
  callAt(at, { site: gpuSite, telemetryFollows: true, ...changes });

/** The number of calls that the metrics counted as measured. */
let measured = 0;
const round = (deployments: GpuSettings['deployments'] = settings.deployments): Promise<void> =>
  openGpuJob({
    db: stores.db,
    settings: { ...settings, deployments },
    prometheus: prometheusAt(
      httpAt(() => now),
      { baseUrl: stub.url, headers: {} },
    ),
    log: silentLog,
    seals: testSeals,
    now: () => now,
    onMeasured: (count) => {
      measured += count;
    },
  })();
const waiting = () => stores.db.gpuMeasurement.findMany({ orderBy: { receiptId: 'asc' } });
const later = (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1000);
};
/** A database sets the time at which a new row is due. */
const allDue = () => stores.db.gpuMeasurement.updateMany({ data: { dueAt: new Date(0) } });

async function recalculated(): Promise<number> {
  let made = 0;
  const history = () => async () => null;
  const onRecalculated = (count: number) => {
    made += count;
  };
  const { signal } = new AbortController();
  const tools = { now: () => now, faults: noFaults, log: silentLog, seals: testSeals };
  const options = { ...tools, db: stores.db, history, signal, onRecalculated };
  await recalculateDue(options, catalogueOf([modelOf()]));
  return made;
}

async function ingested(...entries: Entry[]): Promise<Entry[]> {
  await ingest(stores.db, ...entries);
  await allDue();
  return entries;
}

const newest = async ({ receipt }: Entry) => {
  const version = (await versionsOf(stores.db, receipt.id)).at(-1);
  if (version === undefined) throw new Error('There is no such receipt.');
  return version;
};

/** Two GPUs use 0.036 Wh together, and 1,000 tokens are computed, between the two samples around the call. */
const complete = (energyMj = 64_800) => [
  dcgm('a', [
    [scraped, '1000000'],
    [scraped + 15, String(1_000_000 + energyMj)],
  ]),
  dcgm('b', [
    [scraped, '2000000'],
    [scraped + 15, String(2_000_000 + energyMj)],
  ]),
  vllm('prompt', [
    [scraped, '100'],
    [scraped + 15, '700'],
  ]),
  vllm('generation', [
    [scraped, '100'],
    [scraped + 15, '500'],
  ]),
];

test('a call gets a version with the energy that was counted for it, its raw samples and its interval', async () => {
  const [entry] = await ingested(entryFrom(gpuCall()));
  if (!entry) return;
  expect(entry.receipt).toMatchObject({
    tier: 'parametric',
    tier_reason: expect.stringContaining('a later version may'),
  });
  stub.hold(complete());
  measured = 0;
  await round();
  expect(measured).toBe(1);
  const { receipt, facts } = await newest(entry);
  expect(receipt).toMatchObject({
    version: 2,
    supersedes: 1,
    tier: 'telemetry',
    energy_split: 'measured',
    energy_accelerator_wh: 0.00108,
    tier_reason: expect.stringMatching(/accelerators measured by gpu_counters over 15 s/),
  });
  expect(facts).not.toHaveProperty('telemetryFollows');
  const found = { json: JSON.stringify(receipt), facts };
  const { lineage, revision } = receiptLineage(found);
  expect(revision).toMatchObject({ reason: 'measured', at: now.toISOString() });
  expect(lineage?.telemetry).toMatchObject({ used: true, interval_s: 15, energy_source: 'own_counters' });
  expect(lineage?.telemetry?.raw).toMatchObject({ allTokens: 1000, callTokens: 30, seen: expect.any(Array) });
  expect(await waiting()).toEqual([]);
  await round();
  expect(await versionsOf(stores.db, entry.receipt.id)).toHaveLength(2);
});

test('an explicit telemetry tier is pending until then, in both boundaries', async () => {
  const entries = await ingested(
    ...(['narrow', 'comprehensive'] as const).map((boundary) =>
      entryFrom(gpuCall({ requestedTier: 'telemetry', boundary })),
    ),
  );
  for (const { receipt } of entries) expect(receipt.degraded_reason).toBe('telemetry_pending');
  stub.hold(complete());
  await round();
  const [narrow, wide] = await Promise.all(entries.map(newest));
  expect(narrow?.receipt).toMatchObject({ tier: 'telemetry', energy_wh: 0.00108, energy_host_wh: null });
  expect(wide?.receipt).toMatchObject({
    tier: 'telemetry',
    energy_accelerator_wh: 0.00108,
    energy_host_wh: expect.any(Number),
  });
  for (const each of [narrow, wide]) expect(each?.receipt).not.toHaveProperty('degraded_reason');
});

test('all calls of an interval together get what was counted, by their share of the tokens', async () => {
  const shares = [
    [10, 20],
    [100, 50],
    [300, 20],
    [190, 310],
  ] as const;
  const usage = ([promptTokens, completionTokens]: readonly [number, number]) => ({
    promptTokens,
    completionTokens,
    cachedPromptTokens: 0,
  });
  const entries = await ingested(...shares.map((share) => entryFrom(gpuCall({ usage: usage(share) }))));
  stub.hold(complete());
  await round();
  const receipts = await Promise.all(entries.map(newest));
  const sum = receipts.reduce((total, { receipt }) => total + (receipt.energy_accelerator_wh ?? 0), 0);
  expect(sum).toBeCloseTo(0.036, 12);
  expect(receipts.map(({ receipt }) => receipt.tier)).toEqual(['telemetry', 'telemetry', 'telemetry', 'telemetry']);
});

test('the sample after the call is waited for, and its calls are asked for together', async () => {
  const [entry] = await ingested(entryFrom(gpuCall()), entryFrom(gpuCall()), entryFrom(gpuCall()));
  if (!entry) return;
  stub.hold(complete().map(({ metric, values }) => ({ metric, values: values.slice(0, 1) })));
  const before = stub.asked.length;
  await round();
  // The clock, the energy, and two kinds of tokens.
  expect(stub.asked.length - before).toBe(4);
  expect((await waiting()).map(({ attempts, dueAt }) => [attempts, dueAt])).toEqual(
    Array(3).fill([1, new Date(now.getTime() + 10_000)]),
  );
  stub.hold(complete());
  await round();
  expect(await waiting()).toHaveLength(3);
  later(10);
  await round();
  expect(await waiting()).toEqual([]);
  expect((await newest(entry)).receipt).toMatchObject({ version: 2, tier: 'telemetry' });
});

test('after an hour without samples auto keeps its version, and an explicit tier ends unavailable, for good', async () => {
  const [auto, explicit] = await ingested(entryFrom(gpuCall()), entryFrom(gpuCall({ requestedTier: 'telemetry' })));
  if (!auto || !explicit) return;
  stub.hold([]);
  await round();
  expect(await waiting()).toHaveLength(2);
  later(3700);
  await round();
  expect(await waiting()).toEqual([]);
  expect((await newest(auto)).receipt).toEqual(auto.receipt);
  expect((await newest(explicit)).receipt).toMatchObject({
    version: 2,
    tier: 'degraded',
    degraded_reason: 'tier_unavailable',
    recalculable: false,
    energy_wh: null,
    explanation: expect.stringContaining('no samples of every counter cover the call'),
  } satisfies Partial<Receipt>);
});

test('a degraded auto call without samples gets no version for that, and a later one promises no measurement', async () => {
  const [entry] = await ingested(entryFrom(gpuCall({ model: unknownModel })));
  if (!entry) return;
  stub.hold([]);
  later(3700);
  await round();
  expect(await waiting()).toEqual([]);
  expect(await versionsOf(stores.db, entry.receipt.id)).toHaveLength(1);
  expect(await recalculated()).toBe(1);
  const { facts, receipt } = await newest(entry);
  expect(receipt).toMatchObject({ version: 2, tier: 'parametric' });
  expect(receipt.tier_reason).not.toContain('a later version may');
  expect(receipt.tier_reason).toContain('no samples of every counter cover the call');
  expect(facts?.revision?.reason).toBe('recalculated');
});

test('while its counters are still to be read, a call that is recalculated says so', async () => {
  const [entry] = await ingested(entryFrom(gpuCall({ model: unknownModel })));
  if (!entry) return;
  expect(await recalculated()).toBe(1);
  expect((await newest(entry)).receipt.tier_reason).toContain('a later version may');
  stub.hold(complete());
  await round();
  expect((await newest(entry)).receipt).toMatchObject({ version: 3, tier: 'telemetry' });
});

test('an explicit tier without samples says that nothing was measured', async () => {
  const [entry] = await ingested(entryFrom(gpuCall({ requestedTier: 'telemetry' })));
  if (!entry) return;
  stub.hold([]);
  later(3700);
  await round();
  expect((await newest(entry)).facts?.revision?.reason).toBe('not_measured');
});

test('a measured call whose first version was closed for a dead sidecar says where it was served', async () => {
  const made = entryFrom(gpuCall({ requestedTier: 'telemetry' }));
  const [closed] = await ingested(unattended(made, { shown: true }), made);
  if (!closed) return;
  expect((await newest(closed)).receipt).toMatchObject({ version: 1, provider: null, region: null });
  stub.hold(complete());
  await round();
  const { provider, region } = gpuSite;
  expect((await newest(closed)).receipt).toMatchObject({ version: 2, tier: 'telemetry', provider, region });
});

test('the same holds for a deployment whose counters nobody has configured', async () => {
  const [explicit] = await ingested(entryFrom(gpuCall({ requestedTier: 'telemetry' })));
  if (!explicit) return;
  await round(new Map());
  expect(await waiting()).toHaveLength(1);
  later(3700);
  await round(new Map());
  expect((await newest(explicit)).receipt).toMatchObject({ degraded_reason: 'tier_unavailable' });
});

test.each<[string, () => void]>([
  ['fails', () => stub.answer({ status: 500 })],
  ['talks nonsense', () => stub.answer({ body: '{"status":"success","data":[]}' })],
  [
    'has another time than we',
    () => {
      stub.hold(complete());
      stub.setSkew(30);
    },
  ],
])('while Prometheus %s the calls wait, also beyond the hour, and are measured afterwards', async (_what, fault) => {
  const [entry] = await ingested(entryFrom(gpuCall({ requestedTier: 'telemetry' })));
  if (!entry) return;
  fault();
  await round();
  later(7200);
  await round();
  stub.setSkew(0);
  expect(await waiting()).toHaveLength(1);
  expect((await newest(entry)).receipt.version).toBe(1);
  later(300);
  stub.hold(complete());
  await round();
  expect((await newest(entry)).receipt).toMatchObject({ version: 2, tier: 'telemetry' });
});

test('a figure that cannot be right is not used, and the receipt says why: auto is modelled, explicit is unavailable', async () => {
  const calls = [gpuCall(), gpuCall({ requestedTier: 'telemetry' })];
  const [auto, explicit] = await ingested(...calls.map((call) => entryFrom(call)));
  if (!auto || !explicit) return;
  stub.hold(complete(900_000_000));
  await round();
  const { receipt } = await newest(auto);
  expect(receipt).toMatchObject({ version: 2, tier: 'parametric', energy_wh: auto.receipt.energy_wh });
  expect(receipt.tier_reason).toContain('more than 100 times the modelled energy');
  expect((await newest(explicit)).receipt).toMatchObject({ degraded_reason: 'tier_unavailable', recalculable: false });
});

test('a GPU that is missing, and a counter that fell, give no energy', async () => {
  const [entry] = await ingested(entryFrom(gpuCall()));
  if (!entry) return;
  stub.hold(complete().slice(1));
  await round();
  expect(await waiting()).toHaveLength(1);
  const [first, ...others] = complete();
  if (!first) return;
  stub.hold([
    {
      ...first,
      values: [
        [scraped, '5'],
        [scraped + 5, '1'],
        [scraped + 15, '9'],
      ],
    },
    ...others,
  ]);
  later(60);
  await round();
  expect((await newest(entry)).receipt.tier_reason).toContain('a counter went backwards');
});

test('a call that lacks something else keeps its measurement, and is recalculated with it when the rest is there', async () => {
  const calls = [gpuCall({ grid: null }), gpuCall({ grid: null, requestedTier: 'telemetry' })];
  const entries = await ingested(...calls.map((call) => entryFrom(call)));
  stub.hold(complete());
  await round();
  expect(await waiting()).toEqual([]);
  for (const entry of entries) {
    const { receipt, facts } = await newest(entry);
    expect(receipt).toMatchObject({ version: 2, degraded_reason: 'grid_intensity_missing', recalculable: true });
    expect(await stores.db.recalculation.count({ where: { receiptId: receipt.id } })).toBe(1);
    const complete = { ...facts, grid: gpuCall().grid } as CallFacts;
    expect(assess(complete)).toMatchObject({ ok: true, impact: { tier: 'telemetry' } });
  }
});

test('a token counter that is not there is waited for: without it the share of a call would be too large', async () => {
  await ingested(entryFrom(gpuCall()));
  stub.hold(complete().slice(0, 3));
  await round();
  expect(await waiting()).toHaveLength(1);
});

test('several instances at once make one version of each', async () => {
  const entries = await ingested(...Array.from({ length: 20 }, () => entryFrom(gpuCall())));
  stub.hold(complete());
  await Promise.all([round(), round(), round(), round()]);
  for (const { receipt } of entries) expect(await versionsOf(stores.db, receipt.id)).toHaveLength(2);
  expect(await waiting()).toEqual([]);
});

test('only calls that are to be measured are noted, once, and a replay does not note them again', async () => {
  const wanted = entryFrom(gpuCall());
  await ingest(stores.db, wanted, entryFrom(callAt(at)), entryFrom(callAt(at, { site: gpuSite })));
  expect((await waiting()).map(({ receiptId, deployment }) => [receiptId, deployment])).toEqual([
    [wanted.receipt.id, 'gpu'],
  ]);
  await allDue();
  stub.hold(complete());
  await round();
  await ingest(stores.db, wanted);
  expect(await waiting()).toEqual([]);
});

test.each([
  ['null', `body = 'null'`],
  ['a list', `body = '[]'`],
  ['without a time, as its facts are', `facts = '{"telemetryFollows":true}'`],
])('a call whose receipt was altered in storage to %s holds up no other one', async (_, change) => {
  const [altered, other] = await ingested(entryFrom(gpuCall()), entryFrom(gpuCall()));
  if (!altered || !other) return;
  await stores.tamper(`UPDATE receipts SET ${change} WHERE id = '${altered.receipt.id}'`);
  stub.hold(complete());
  await round();
  expect((await newest(other)).receipt).toMatchObject({ version: 2, tier: 'telemetry' });
  expect(await rowsOf(stores.db, altered.receipt.id)).toHaveLength(1);
  expect(await waiting()).toMatchObject([{ receiptId: altered.receipt.id }]);
});
