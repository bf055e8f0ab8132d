import { bucketOf, quantile, type Times } from '@gw/contract/internal/live';
import { expect, test } from 'vitest';
import { LiveWindow } from './live.ts';

const complete = { status: 'complete', isDegraded: false, ms: 100 } as const;

test('a window counts what ended in the last ten seconds, each call once', () => {
  const window = new LiveWindow();
  window.ended(complete);
  window.ended({ ...complete, status: 'upstream_error', isDegraded: true });
  window.ended({ ...complete, status: 'client_aborted' });
  window.overhead(2);
  for (const status of [401, 429, 503]) window.refused(status);
  expect(window.turn()).toMatchObject({
    windowS: 2,
    calls: 3,
    failed: 1,
    aborted: 1,
    degraded: 1,
    refused: 2,
    errors: 1,
  });
  window.ended(complete);
  expect(window.turn().calls).toBe(4);
  expect([window.turn(), window.turn(), window.turn(), window.turn()].map(({ calls }) => calls)).toEqual([4, 4, 4, 1]);
  expect(window.turn()).toEqual({
    windowS: 10,
    calls: 0,
    failed: 0,
    aborted: 0,
    degraded: 0,
    refused: 0,
    errors: 0,
    took: [],
    overhead: [],
  });
});

test.each([0.06, 0.5, 3, 47, 1234, 98_765])('a time of %s ms is read to a tenth', (ms) => {
  const read = quantile([[bucketOf(ms), 1]], 0.5) ?? 0;
  expect(Math.abs(read / ms - 1)).toBeLessThanOrEqual(0.1);
});

test('a quantile is of all sidecars together, and of nothing there is none', () => {
  const fast: Times = [[bucketOf(1), 99]];
  const slow: Times = [[bucketOf(1000), 1]];
  const at = (q: number) => quantile([...slow, ...fast], q) ?? 0;
  expect([at(0.5) < 2, at(0.99) < 2, at(1) > 900]).toEqual([true, true, true]);
  expect(quantile([], 0.5)).toBeNull();
});
