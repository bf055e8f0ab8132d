import { expect, test } from 'vitest';
import { screeningLimitUs, screeningSteps } from './screening.ts';

test('what is screened in the benchmark is long, matched by no rule, and held against the limit', async () => {
  const steps = screeningSteps();
  expect(steps.length).toBeGreaterThan(0);
  for (const { name, run, limitUs } of steps) {
    expect(await run(), name).toEqual([]);
    expect(limitUs).toBe(screeningLimitUs);
  }
});
