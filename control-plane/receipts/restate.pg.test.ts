import { receiptSchema } from '@gw/contract/receipt';
import type { GridReading } from '@gw/methodology/assess';
import { annualReading } from '@gw/methodology/grid-annual';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Stores, silentLog, startStores } from '../fixtures-for-tests.ts';
import type { ZoneSource } from '../grid/config.ts';
import type { GridObservation } from '../grid/reading.ts';
import { storeReadings } from '../grid/store.ts';
import { usageOf } from '../usage/usage.ts';
import { callAt, type Entry, entryFrom, hourly, ingest, versionsOf } from './calls-for-tests.ts';
import { receiptLineage } from './lineage.ts';
import { restateDue } from './restate.ts';
import { supersede } from './supersede.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
}, 120_000);
afterAll(() => stores?.stop());
beforeEach(async () => {
  await stores.db.$executeRaw`TRUNCATE receipts, recalculations, restatements, grid_readings`;
});

const sweden: ZoneSource = { zone: 'SWE', source: 'electricity-maps', place: 'SE' };
const other: ZoneSource = { zone: 'SWE', source: 'entsoe', place: '10YSE-1--------K' };
const nine = '2026-11-21T09:00:00Z';
const at = '2026-11-21T09:10:00Z';

/** Returns how many versions were made. */
async function restate(sources: readonly ZoneSource[] = [sweden], db = stores.db): Promise<number> {
  let made = 0;
  await restateDue({
    db,
    sources,
    now: () => new Date('2026-11-22T00:00:00Z'),
    log: silentLog,
    signal: new AbortController().signal,
    onRestated: (count) => {
      made += count;
    },
  });
  return made;
}

let fetches = 0;
/** A source says that this value is settled. */
async function settles(start: string, gPerKwh: number, changes: Partial<GridObservation> = {}): Promise<void> {
  const { periodStart, periodEnd, observedAt } = hourly(start);
  fetches += 1;
  const settled: GridObservation = {
    ...sweden,
    gPerKwh,
    signal: 'average',
    kind: 'average',
    basis: 'lifecycle',
    periodStart: new Date(periodStart),
    periodEnd: new Date(periodEnd),
    observedAt: new Date(observedAt),
    fetchedAt: new Date(Date.parse(periodEnd) + fetches),
    isEstimated: false,
    settled: true,
    rawSha256: 'a'.repeat(64),
    ...changes,
  };
  await storeReadings(stores.db, [settled]);
}

const estimate = (start: string, changes: Partial<GridReading> = {}): GridReading =>
  hourly(start, { temporalMatch: 'fresh', ...changes });

async function called(grid: GridReading, time = at, options: Parameters<typeof entryFrom>[1] = {}): Promise<Entry> {
  const entry = entryFrom(callAt(time, { grid }), options);
  await ingest(stores.db, entry);
  return entry;
}

/** The newest version; it has to be a valid receipt that its lineage explains. */
async function newest({ receipt: { id } }: Entry) {
  const found = (await versionsOf(stores.db, id)).at(-1);
  if (found === undefined) throw new Error('there is none');
  receiptSchema.parse(found.receipt);
  const texts = { json: JSON.stringify(found.receipt), facts: JSON.stringify(found.facts), pending: false };
  return { ...found, lineage: receiptLineage(texts) };
}
const secondLook = () =>
  stores.db.$executeRaw`UPDATE restatements SET noted_at = noted_at - INTERVAL '2 minutes', due_at = now()`;

test('an estimate is replaced when its hour has settled: carbon anew, energy and tier as they were', async () => {
  const entry = await called(estimate(nine));
  await settles(nine, 60);
  expect(await restate()).toBe(1);
  const { receipt, lineage, facts } = await newest(entry);
  const { receipt: first } = entry;
  expect(receipt).toMatchObject({
    version: 2,
    supersedes: 1,
    tier: first.tier,
    energy_wh: first.energy_wh,
    energy_low_wh: first.energy_low_wh,
    carbon_embodied_g: first.carbon_embodied_g,
    water_ml: first.water_ml,
    grid_intensity_g_per_kwh: 60,
    grid_intensity_source: 'electricity-maps',
    grid_intensity_observed_at: '2026-11-21T09:00:00.000Z',
    grid_intensity_requested_at: '2026-11-21T09:10:00.000Z',
    grid_intensity_age_minutes: 0,
    grid_temporal_match: 'live_window',
    methodology: first.methodology,
  });
  expect(receipt.carbon_operation_g).toBeCloseTo((Number(first.carbon_operation_g) / 40) * 60, 12);
  expect(lineage.revision).toEqual({
    reason: 'restated',
    at: '2026-11-22T00:00:00.000Z',
    completed: [],
    catalogue_version: null,
    grid: {
      replaced_source: 'electricity-maps',
      replaced_g_per_kwh: 40,
      replaced_period: `${facts?.grid?.periodStart}/${facts?.grid?.periodEnd}`,
      replaced_signal: 'average',
      revision: 1,
      reply_sha256: 'a'.repeat(64),
    },
  });
  expect((await versionsOf(stores.db, first.id))[0]?.receipt).toEqual(first);
});

test('an interval is looked at twice and then forgotten, and nothing is restated again', async () => {
  const entry = await called(estimate(nine));
  await settles(nine, 60);
  await restate();
  expect(await restate(), 'it is not due').toBe(0);
  expect(await stores.db.restatement.count()).toBe(1);
  await secondLook();
  expect(await restate()).toBe(0);
  expect(await stores.db.restatement.count()).toBe(0);
  // The same value again is no news.
  await settles(nine, 60);
  expect(await restate()).toBe(0);
  expect(await versionsOf(stores.db, entry.receipt.id)).toHaveLength(2);
});

test('a settled value that equals the one used makes no version; one that is revised later makes another', async () => {
  const [same, different] = [await called(estimate(nine, { gPerKwh: 60 })), await called(estimate(nine))];
  await settles(nine, 60);
  expect(await restate()).toBe(1);
  await settles(nine, 61);
  expect(await restate()).toBe(2);
  expect((await newest(same)).receipt).toMatchObject({ version: 2, grid_intensity_g_per_kwh: 61 });
  expect((await newest(different)).receipt).toMatchObject({ version: 3, supersedes: 2, grid_intensity_g_per_kwh: 61 });
  expect((await newest(different)).lineage.revision?.grid).toMatchObject({ replaced_g_per_kwh: 60, revision: 2 });
});

describe('which values are replaced, and by which', () => {
  const forecast = hourly(nine, { signal: 'forecast', temporalMatch: 'forecast' });
  const lastWeek = hourly('2026-11-14T09:00:00Z', { temporalMatch: 'prior_week' });
  const stale = hourly('2026-11-21T04:00:00Z', { temporalMatch: 'none' });
  const annual = annualReading('SWE');

  test.each([
    ['a forecast', forecast],
    ["last week's value", lastWeek],
    ['a stale value', stale],
    ['the value of the hour before, measured or not', hourly('2026-11-21T08:00:00Z')],
    ['the yearly average in a zone with a source', annual],
  ])('%s, by the settled value of the hour of the call', async (_, grid) => {
    if (grid === null) throw new Error('no reading');
    const entry = await called(grid);
    await settles(nine, 60);
    expect(await restate()).toBe(1);
    expect((await newest(entry)).receipt).toMatchObject({
      grid_intensity_g_per_kwh: 60,
      grid_temporal_match: 'live_window',
      grid_intensity_age_minutes: 0,
    });
  });

  test('an estimate of the hour before, by its own settled value until the hour of the call has one', async () => {
    const entry = await called(estimate('2026-11-21T08:00:00Z'));
    await settles('2026-11-21T08:00:00Z', 50);
    expect(await restate()).toBe(1);
    expect((await newest(entry)).receipt).toMatchObject({ grid_intensity_g_per_kwh: 50, grid_temporal_match: 'fresh' });
    await settles(nine, 60);
    expect(await restate()).toBe(1);
    expect((await newest(entry)).receipt).toMatchObject({ version: 3, grid_intensity_g_per_kwh: 60 });
    await secondLook();
    expect(await restate()).toBe(0);
  });

  test('an estimate is not replaced by what another source has settled; a value that stood in for one is', async () => {
    const [own, standIn] = [await called(estimate(nine)), await called(lastWeek)];
    await settles(nine, 77, { ...other, source: 'entsoe (production, ipcc-ar5-1)' });
    expect(await restate([sweden, other])).toBe(1);
    expect((await newest(own)).receipt.version).toBe(1);
    expect((await newest(standIn)).receipt).toMatchObject({
      grid_intensity_g_per_kwh: 77,
      grid_intensity_source: 'entsoe (production, ipcc-ar5-1)',
    });
  });

  test.each([
    ['a value that is not settled', { settled: false, isEstimated: true }],
    ['a marginal value', { kind: 'marginal', signal: 'marginal' } as const],
    ['another place', { place: 'SE-SE3' }],
    ['a source that is not configured', { source: 'neso', place: '' }],
    ['another zone', { zone: 'NOR' }],
    ['another hour', hourlyDates('2026-11-21T11:00:00Z')],
  ])('nothing, by %s', async (_, changes) => {
    await called(estimate(nine));
    await settles(nine, 60, changes);
    expect(await restate()).toBe(0);
  });
});

function hourlyDates(start: string): Partial<GridObservation> {
  const { periodStart, periodEnd } = hourly(start);
  return { periodStart: new Date(periodStart), periodEnd: new Date(periodEnd) };
}

test('receipts that are stored after their hour was settled and forgotten are restated too', async () => {
  await settles(nine, 60);
  await settles('2026-11-21T08:00:00Z', 50);
  await restate();
  await secondLook();
  await restate();
  expect(await stores.db.restatement.count()).toBe(0);
  const late = [await called(estimate(nine)), await called(estimate('2026-11-21T08:00:00Z'), '2026-11-21T10:30:00Z')];
  expect(await restate()).toBe(2);
  expect((await newest(late[0] as Entry)).receipt.grid_intensity_g_per_kwh).toBe(60);
  expect((await newest(late[1] as Entry)).receipt.grid_intensity_g_per_kwh).toBe(50);
});

test('receipts that have the settled value note nothing, so that the stream of new ones costs no look', async () => {
  await settles('2026-11-21T08:00:00Z', 45);
  await settles('2026-11-21T08:00:00Z', 50);
  await secondLook();
  await restate();
  await called(hourly('2026-11-21T08:00:00Z', { gPerKwh: 50 }));
  const annual = annualReading('SWE');
  if (annual) await called(annual);
  await called(hourly('2026-11-14T08:00:00Z', { temporalMatch: 'prior_week' }));
  expect(await stores.db.restatement.count()).toBe(0);
});

test('a receipt is restated by the methodology that made it', async () => {
  const entry = await called(estimate(nine), at, { methodology: 'gw-1.0' });
  await settles(nine, 60);
  expect(await restate()).toBe(1);
  expect((await newest(entry)).receipt).toMatchObject({ methodology: 'gw-1.0', methodology_version: '1.0.0' });
});

test('totals are as issued or as restated: each receipt once, and the sums are those of its versions', async () => {
  const accountId = 'acct_totals';
  const entries: Entry[] = [];
  for (let i = 0; i < 30; i++) {
    const grid = i % 3 === 0 ? hourly(nine, { gPerKwh: 60 }) : estimate(nine, { gPerKwh: 30 + i });
    entries.push(await called(grid, `2026-11-21T09:${10 + i}:00Z`, { accountId }));
  }
  await settles(nine, 60);
  expect(await restate()).toBe(20);
  const total = async (version: 'issued' | 'restated') => {
    const rows = await usageOf(stores.db, accountId, new Date(nine), new Date('2026-11-22'), version);
    expect(rows).toHaveLength(1);
    return rows[0];
  };
  const sum = (values: readonly (number | null)[]) => values.reduce<number>((a, b) => a + Number(b), 0);
  const issued = await total('issued');
  const restated = await total('restated');
  expect([issued?.requests, restated?.requests]).toEqual([30, 30]);
  expect(issued?.carbon_g).toBeCloseTo(sum(entries.map(({ receipt }) => receipt.carbon_g)), 12);
  const anew = entries.map((entry) => entryFrom({ ...entry.facts, grid: hourly(nine, { gPerKwh: 60 }) } as never));
  expect(restated?.carbon_g).toBeCloseTo(sum(anew.map(({ receipt }) => receipt.carbon_g)), 12);
  expect(restated?.energy_wh).toBe(issued?.energy_wh);
});

test('a receipt that another job gives a version at the same moment is restated from that one', async () => {
  const [raced, other] = [await called(estimate(nine)), await called(estimate(nine))];
  await settles(nine, 60);
  const { id: _, ...numbers } = raced.receipt;
  let questions = 0;
  const racing = new Proxy(stores.db, {
    get: (db, name) => {
      if (name !== '$queryRaw') return Reflect.get(db, name);
      return async (...query: Parameters<typeof db.$queryRaw>) => {
        questions += 1;
        // Taking, the readings, the receipts; now the versions.
        if (questions === 4) await supersede(db, [{ current: raced.receipt, numbers, facts: raced.facts }]);
        return db.$queryRaw(...query);
      };
    },
  });
  expect(await restate([sweden], racing)).toBe(2);
  expect((await newest(raced)).receipt).toMatchObject({ version: 3, supersedes: 2, grid_intensity_g_per_kwh: 60 });
  expect((await newest(other)).receipt).toMatchObject({ version: 2, grid_intensity_g_per_kwh: 60 });
});

test('more receipts than fit a batch, several instances at once, and one that dies in the middle: one version each', async () => {
  const entries = Array.from({ length: 700 }, (_, i) =>
    entryFrom(callAt(`2026-11-21T09:10:00.${String(Math.floor(i / 5)).padStart(3, '0')}Z`, { grid: estimate(nine) })),
  );
  await ingest(stores.db, ...entries);
  await settles(nine, 60);
  const dying = new AbortController();
  await restateDue({
    db: stores.db,
    sources: [sweden],
    now: () => new Date(),
    log: silentLog,
    signal: dying.signal,
    onRestated: () => dying.abort(),
  });
  expect(await stores.db.receipt.count()).toBe(900);
  expect(await restate(), 'it is still held').toBe(0);
  await stores.db.$executeRaw`UPDATE restatements SET due_at = now()`;
  const again = stores.db.$executeRaw`UPDATE restatements SET due_at = now() - INTERVAL '1 second'`;
  const [one, , two] = await Promise.all([restate(), again, restate()]);
  expect(one + two).toBe(500);
  const rows = await stores.db.receipt.findMany({ select: { id: true, version: true } });
  expect(rows).toHaveLength(1400);
  expect(new Set(rows.map(({ id, version }) => `${id} ${version}`)).size).toBe(1400);
});
