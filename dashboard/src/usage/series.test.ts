import { expect, test } from 'vitest';
import type { UsageRow } from '../api/types.ts';
import { daysOf, sharesOf, sumOf } from './series.ts';

const row = (fields: Partial<UsageRow>) => fields as UsageRow;
const rows = [
  row({ date: '2026-11-24', model: 'a', requests: 2, carbon_g: 1, carbon_low_g: 0.5, carbon_high_g: 3 }),
  row({ date: '2026-11-24', model: 'b', requests: 1, carbon_g: 4, carbon_low_g: 2, carbon_high_g: 9 }),
  row({ date: '2026-11-25', model: 'b', requests: 1, carbon_g: null, carbon_low_g: null, carbon_high_g: null }),
];

test('days are UTC days in a row, with their sums and bounds; unknown is not 0, and no call is', () => {
  expect(daysOf(rows, 'carbon_g', '2026-11-23T00:00:00.000Z', '2026-11-25T12:00:00.000Z')).toEqual([
    { date: '2026-11-23', value: 0, band: [0, 0] },
    { date: '2026-11-24', value: 5, band: [2.5, 12] },
    { date: '2026-11-25', value: null, band: null },
  ]);
});

test('shares begin with the largest, and keep their rows', () => {
  const shares = sharesOf(rows, 'carbon_g', 'model');
  expect(shares.map(({ name, value }) => [name, value])).toEqual([
    ['b', 4],
    ['a', 1],
  ]);
  expect(shares.map((share) => sumOf(share.rows, 'requests'))).toEqual([2, 2]);
  expect(sumOf(rows.slice(2), 'carbon_g')).toBeNull();
});
