import { expect, test } from 'vitest';
import { untilDayHolds } from './one-day.ts';

test.each([
  ['2026-11-27T12:00:00.000Z', 0],
  ['2026-11-27T23:58:29.000Z', 0],
  ['2026-11-27T23:58:31.000Z', 90_000],
  ['2026-11-27T23:59:59.999Z', 1001],
  ['2026-11-28T00:00:00.000Z', 0],
])('at %s what takes 90 s waits %i ms', (time, waitMs) => {
  expect(untilDayHolds(90_000, Date.parse(time))).toBe(waitMs);
});
