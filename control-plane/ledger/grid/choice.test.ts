import { hourMs } from '@gw/contract/internal/durations';
import { annualReading } from '@gw/methodology/grid-annual';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseGrid, type GridChoice } from './choice.ts';
import type { ZoneSource } from './config.ts';
import type { StoredReading } from './store.ts';

const now = new Date('2026-11-21T12:00:00Z');
const weekHours = 7 * 24;
const live: ZoneSource = { zone: 'SWE', source: 'electricity-maps', place: 'SE' };
const second: ZoneSource = { zone: 'SWE', source: 'entsoe', place: '10YSE-1--------K' };
const marginal: ZoneSource = { zone: 'SWE', source: 'watttime', place: 'SE' };

/** A reading for the hour that began so many hours before now. */
function reading(hoursAgo: number, changes: Partial<StoredReading> = {}): StoredReading {
  const start = now.getTime() - hoursAgo * hourMs;
  return {
    zone: 'SWE',
    source: 'electricity-maps',
    place: 'SE',
    kind: 'average',
    signal: 'average',
    basis: 'lifecycle',
    gPerKwh: 10 + hoursAgo,
    isEstimated: false,
    periodStart: new Date(start),
    periodEnd: new Date(start + hourMs),
    observedAt: new Date(start),
    fetchedAt: new Date(start + hourMs),
    rawSha256: 'a'.repeat(64),
    ...changes,
  };
}
const choose = (readings: StoredReading[], sources = [live, second, marginal], annual = annualReading): GridChoice =>
  chooseGrid(readings, sources, annual, now);
const moer = { source: 'watttime', kind: 'marginal' as const, signal: 'marginal' as const };

test('the newest measured average that is fresh is published, with its reply and the water factor of its zone', () => {
  const { receipt, routing } = choose([reading(2), reading(1), reading(3)]);
  expect(receipt).toEqual([
    {
      zone: 'SWE',
      gPerKwh: 11,
      source: 'electricity-maps',
      signal: 'average',
      periodStart: '2026-11-21T11:00:00.000Z',
      periodEnd: '2026-11-21T12:00:00.000Z',
      observedAt: '2026-11-21T11:00:00.000Z',
      temporalMatch: null,
      waterLPerKwh: annualReading('SWE')?.waterLPerKwh,
      waterSource: 'EcoLogits 0.11.3 (World Resources Institute)',
      basis: 'lifecycle',
      isEstimated: false,
      replySha256: 'a'.repeat(64),
      fetchedAt: '2026-11-21T12:00:00.000Z',
    },
  ]);
  expect(routing).toEqual([]);
});

test('a measured average older than 120 minutes gives way to a forecast, a week ago, or nothing', () => {
  const old = reading(2.01);
  const forecast = reading(0.5, { signal: 'forecast', gPerKwh: 50 });
  const lastWeek = reading(weekHours + 0.5, { gPerKwh: 60 });
  expect(choose([old, forecast, lastWeek]).receipt).toMatchObject([{ gPerKwh: 50, temporalMatch: 'forecast' }]);
  expect(choose([old, lastWeek]).receipt).toMatchObject([{ gPerKwh: 60, temporalMatch: 'prior_week' }]);
  expect(choose([old]).receipt).toEqual([]);
});

test('an estimate of a week ago does not stand in for today', () => {
  expect(choose([reading(weekHours + 0.5, { isEstimated: true })]).receipt).toEqual([]);
});

test('a zone without a yearly average keeps its old reading, which matches nothing', () => {
  expect(choose([reading(5), reading(4)], [live], () => null).receipt).toMatchObject([
    { gPerKwh: 14, temporalMatch: 'none' },
  ]);
});

test('an estimate is marked as one', () => {
  expect(choose([reading(0.1, { isEstimated: true })]).receipt).toMatchObject([
    { temporalMatch: 'fresh', isEstimated: true },
  ]);
});

test('the source that is named first comes first while it is fresh, and a computed source is known by its name', () => {
  const other = { source: 'entsoe (production, ipcc-ar5-1)', place: second.place };
  expect(choose([reading(1), reading(0.5, other)]).receipt).toMatchObject([{ source: 'electricity-maps' }]);
  expect(choose([reading(3), reading(0.5, other)]).receipt).toMatchObject([{ source: other.source }]);
});

test('readings of a source or place that is no longer configured are not used', () => {
  expect(choose([reading(1)], [second]).receipt).toEqual([]);
  expect(choose([reading(1, { place: 'SE-SE3' })]).receipt).toEqual([]);
});

test('a marginal value and a forecast are signals for routing, the newest of each', () => {
  const forecast = reading(0.5, { signal: 'forecast' });
  const { routing } = choose([reading(1), reading(0.2, moer), reading(0.1, moer), forecast]);
  expect(routing).toMatchObject([
    { signal: 'forecast', kind: 'average', gPerKwh: 10.5 },
    { signal: 'marginal', kind: 'marginal', gPerKwh: 10.1 },
  ]);
});

test('no marginal value, nor a forecast of one, ever reaches a receipt', () => {
  const any = fc.record({
    hoursAgo: fc.oneof(fc.double({ min: 0, max: 5, noNaN: true }), fc.constant(weekHours)),
    signal: fc.constantFrom('marginal' as const, 'forecast' as const),
    isEstimated: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(any), (all) => {
      const readings = all.map(({ hoursAgo, ...changes }) => reading(hoursAgo, { ...moer, ...changes }));
      expect(choose(readings).receipt).toEqual([]);
      expect(choose(readings, [marginal], () => null).receipt).toEqual([]);
    }),
  );
});
