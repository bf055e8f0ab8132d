/** Which value of a receipt is replaced, and by which settled one. */
import { annualReading } from '@gw/methodology/grid-annual';
import { hourly } from '@gw/testing/control-plane/calls';
import { startStores } from '@gw/testing/control-plane/fixtures';
import {
  called,
  emptyLedger,
  estimate,
  heardBefore,
  newestVersion,
  nine,
  restate,
  secondLook,
  settles,
  sweden,
} from '@gw/testing/control-plane/restatements';
import { forFile } from '@gw/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import type { ZoneSource } from '../grid/config.ts';
import type { GridObservation } from '../grid/reading.ts';

const other: ZoneSource = { zone: 'SWE', source: 'entsoe', place: '10YSE-1--------K' };

const stores = forFile(startStores);
beforeEach(() => emptyLedger(stores));

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
])('%s is replaced by the settled value of the hour of the call', async (_, grid) => {
  if (grid === null) throw new Error('no reading');
  await heardBefore(stores);
  const entry = await called(stores, grid);
  await settles(stores, nine, 60);
  expect(await restate(stores.db)).toBe(1);
  expect((await newestVersion(stores.db, entry.receipt.id)).receipt).toMatchObject({
    grid_intensity_g_per_kwh: 60,
    grid_temporal_match: 'live_window',
    grid_intensity_age_minutes: 0,
  });
});

test('an estimate of the hour before is replaced by its own settled value until the hour of the call has one', async () => {
  const entry = await called(stores, estimate('2026-11-21T08:00:00Z'));
  await settles(stores, '2026-11-21T08:00:00Z', 50);
  expect(await restate(stores.db)).toBe(1);
  expect((await newestVersion(stores.db, entry.receipt.id)).receipt).toMatchObject({
    grid_intensity_g_per_kwh: 50,
    grid_temporal_match: 'fresh',
  });
  await settles(stores, nine, 60);
  expect(await restate(stores.db)).toBe(1);
  expect((await newestVersion(stores.db, entry.receipt.id)).receipt).toMatchObject({
    version: 3,
    grid_intensity_g_per_kwh: 60,
  });
  await secondLook(stores);
  expect(await restate(stores.db)).toBe(0);
});

test('an estimate is not replaced by what another source has settled; a value that stood in for one is', async () => {
  await heardBefore(stores, { ...other, source: 'entsoe (production, ipcc-ar5-1)' });
  const [own, standIn] = [await called(stores, estimate(nine)), await called(stores, lastWeek)];
  await settles(stores, nine, 77, { ...other, source: 'entsoe (production, ipcc-ar5-1)' });
  expect(await restate(stores.db, [sweden, other])).toBe(1);
  expect((await newestVersion(stores.db, own.receipt.id)).receipt.version).toBe(1);
  expect((await newestVersion(stores.db, standIn.receipt.id)).receipt).toMatchObject({
    grid_intensity_g_per_kwh: 77,
    grid_intensity_source: 'entsoe (production, ipcc-ar5-1)',
  });
});

test('what stood in for no source is not replaced by one that came later, unless an operator says so', async () => {
  if (annual === null) throw new Error('no reading');
  const [yearly, ofAnother] = [await called(stores, annual), await called(stores, lastWeek)];
  // Its first reply, after the calls, reaches back to their hour.
  await settles(stores, nine, 77, { ...other, source: 'entsoe' });
  expect(await restate(stores.db, [sweden, other])).toBe(0);
  await secondLook(stores);
  expect(await restate(stores.db, [sweden, other], true)).toBe(2);
  for (const { receipt } of [yearly, ofAnother])
    expect((await newestVersion(stores.db, receipt.id)).receipt).toMatchObject({ grid_intensity_g_per_kwh: 77 });
});

test('what stood in for a source that was silent is replaced by it, in the order of the configuration', async () => {
  if (annual === null) throw new Error('no reading');
  await heardBefore(stores, { ...other, source: 'entsoe' });
  const entry = await called(stores, annual);
  await settles(stores, nine, 60);
  await settles(stores, nine, 77, { ...other, source: 'entsoe' });
  // The first of the configuration came after the call.
  expect(await restate(stores.db, [sweden, other])).toBe(1);
  expect((await newestVersion(stores.db, entry.receipt.id)).receipt).toMatchObject({ grid_intensity_g_per_kwh: 77 });
});

test.each([
  ['a value that is not settled', { settled: false, isEstimated: true }],
  ['a marginal value', { kind: 'marginal', signal: 'marginal' } as const],
  ['another place', { place: 'SE-SE3' }],
  ['a source that is not configured', { source: 'neso', place: '' }],
  ['another zone', { zone: 'NOR' }],
  ['another hour', hourlyDates('2026-11-21T11:00:00Z')],
])('nothing is replaced by %s', async (_, changes) => {
  await called(stores, estimate(nine));
  await settles(stores, nine, 60, changes);
  expect(await restate(stores.db)).toBe(0);
});

function hourlyDates(start: string): Partial<GridObservation> {
  const { periodStart, periodEnd } = hourly(start);
  return { periodStart: new Date(periodStart), periodEnd: new Date(periodEnd) };
}
