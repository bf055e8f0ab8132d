import { expect, test } from 'vitest';
import { startLimitStep } from './limit-step.ts';
import { cpuMs, decideLimitUs, timesOf } from './micro.ts';

test('the limits are decided by Redis, and held against their limit', async () => {
  const { step, stop } = await startLimitStep();
  const [us] = await timesOf([step.run], cpuMs, 1).finally(stop);
  expect(us).toBeGreaterThan(0);
  expect(step).toMatchObject({ limitUs: decideLimitUs, calls: 16 });
}, 60_000);
