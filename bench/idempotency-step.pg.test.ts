import { expect, test } from 'vitest';
import { startIdempotencyStep } from './idempotency-step.ts';
import { cpuMs, idempotencyLimitUs, timesOf } from './micro.ts';

test('claims and replies are stored in Redis, and held against their limit', async () => {
  const { step, stop } = await startIdempotencyStep();
  const [us] = await timesOf([step.run], cpuMs, 1).finally(stop);
  expect(us).toBeGreaterThan(0);
  expect(step).toMatchObject({ limitUs: idempotencyLimitUs, calls: 16 });
}, 60_000);
