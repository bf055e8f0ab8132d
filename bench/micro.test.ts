import { expect, test } from 'vitest';
import { microBenchmarks, timeOf } from './micro.ts';

test('the time of a step is that of one run', () => {
  let clockMs = 0;
  const step = () => {
    clockMs += 2;
  };
  expect(timeOf(step, () => clockMs)).toBe(2000);
});

test('every step takes its own example', () => {
  for (const { name, us } of microBenchmarks(() => performance.now())) {
    expect(us, name).toBeGreaterThan(0);
  }
});
