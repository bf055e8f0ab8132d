import { expect, test } from 'vitest';
import { gridReadingFor } from './grid-reading.ts';
import type { SnapshotGridReading } from './snapshot.ts';

const reading = (changes: Partial<SnapshotGridReading> = {}): SnapshotGridReading => ({
  zone: 'SWE',
  gPerKwh: 20,
  source: 'live',
  signal: 'average',
  periodStart: '2026-11-21T09:00:00.000Z',
  periodEnd: '2026-11-21T10:00:00.000Z',
  observedAt: '2026-11-21T09:00:00.000Z',
  temporalMatch: null,
  waterLPerKwh: null,
  ...changes,
});
const annual = reading({ source: 'annual', signal: 'annual', temporalMatch: 'annual_fallback' });
const sourceAt = (time: string, live: SnapshotGridReading, gridFloor = [annual]): string | undefined =>
  gridReadingFor({ grid: [live], gridFloor }, 'SWE', new Date(`2026-11-21T${time}Z`))?.source;

test('a measured reading holds until it is 120 minutes old, then the yearly average does', () => {
  expect(sourceAt('09:00:00', reading())).toBe('live');
  expect(sourceAt('11:00:00', reading())).toBe('live');
  expect(sourceAt('11:00:00.001', reading())).toBe('annual');
  expect(sourceAt('08:59:59.999', reading())).toBe('annual');
});

test('a forecast holds for its own interval alone', () => {
  const forecast = reading({ signal: 'forecast' });
  expect(['09:00:00', '09:59:59.999', '10:00:00', '08:59:59'].map((time) => sourceAt(time, forecast))).toEqual([
    'live',
    'live',
    'annual',
    'annual',
  ]);
});

test('a reading of a week ago holds for the same hour of the week', () => {
  const lastWeek = reading({
    temporalMatch: 'prior_week',
    periodStart: '2026-11-14T09:00:00.000Z',
    periodEnd: '2026-11-14T10:00:00.000Z',
  });
  expect(['09:30:00', '10:00:00'].map((time) => sourceAt(time, lastWeek))).toEqual(['live', 'annual']);
});

test('without a yearly average an old reading is better than none, and another zone has none', () => {
  expect(sourceAt('15:00:00', reading(), [])).toBe('live');
  expect(gridReadingFor({ grid: [reading()], gridFloor: [] }, 'FRA', new Date())).toBeNull();
});
