import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LimitSteps, startLimitSteps } from './limit-steps.ts';
import { cpuMs, decideLimitUs, microBenchmarks } from './micro.ts';

let limits: LimitSteps;
beforeAll(async () => {
  limits = await startLimitSteps();
}, 60_000);
afterAll(() => limits?.stop());

test('the limits are decided by Redis, and the figure is that of one call', async () => {
  const figures = await microBenchmarks(cpuMs, 1, limits.steps);
  const ofLimits = figures.filter(({ name }) => name.startsWith('decide the limits'));
  expect(ofLimits.map(({ limitUs }) => limitUs)).toEqual([decideLimitUs, null, null]);
  const [atOnce = 0, , single = 0] = ofLimits.map(({ us }) => us);
  expect(atOnce).toBeGreaterThan(0);
  // Were the 16 not counted as such, they would take longer than one.
  expect(atOnce).toBeLessThan(3 * single);
});
