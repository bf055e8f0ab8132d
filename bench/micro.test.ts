import { makeReceipt } from '@gw/receipt-sidecar/internals/receipt/receipt';
import { expect, test } from 'vitest';
import {
  cpuMs,
  isExceeded,
  microBenchmarks,
  receiptLimitUs,
  timesOf,
  verifyLimitUs,
  yardstickReferenceUs,
} from './micro.ts';
import { finishedCalls } from './receipt-calls.ts';

/** A fault of the calculation stops whoever measures or documents it. */
const onFault = (error: unknown): never => {
  throw error;
};

test('the time of each step is that of one run of it, and what a promise does counts', async () => {
  let clockMs = 0;
  const step = () => {
    clockMs += 2;
  };
  const other = () => {
    clockMs += 3;
  };
  const later = async () => {
    await null;
    clockMs += 5;
  };
  expect(await timesOf([step, other, later], () => clockMs)).toEqual([2000, 3000, 5000]);
});

test('every step takes its own example, and each way to a receipt and the check of a key have their limits', async () => {
  const { slowness, steps } = await microBenchmarks(cpuMs, 1);
  for (const { name, us } of steps) expect(us, name).toBeGreaterThan(0);
  const limits = steps.filter(({ name }) => name.startsWith('make a receipt')).map(({ limitUs }) => limitUs);
  expect(limits).toEqual(Array.from({ length: 4 }, () => receiptLimitUs * slowness));
  const check = steps.find(({ name }) => name === 'check a call with a key that is in memory');
  expect(check?.limitUs).toBe(verifyLimitUs * slowness);
});

test('where everything takes three times as long, so do the limits, and nothing more exceeds them', async () => {
  const slow = async (times: number) => {
    let clockMs = 0;
    // Each reading of the clock is said to come so much after the last one.
    const step = { name: 'step', run: () => undefined, limitUs: 1 };
    const now = () => {
      clockMs += times;
      return clockMs;
    };
    return microBenchmarks(now, 1, [step]);
  };
  const [once, thrice] = [await slow(1), await slow(3)];
  expect(once.slowness).toBeCloseTo(1000 / 16 / yardstickReferenceUs);
  expect(thrice.slowness / once.slowness).toBeCloseTo(3);
  const exceeded = ({ steps }: typeof once) => steps.filter(isExceeded).map(({ name }) => name);
  expect(exceeded(thrice)).toEqual(exceeded(once));
  expect(exceeded(once)).toContain('step');
});

test('a step exceeds its limit above it alone', () => {
  expect([30, 30.1].map((us) => isExceeded({ name: 'step', us, limitUs: 30 }))).toEqual([false, true]);
});

test('the receipts that are made come about in different ways', () => {
  const tiers = finishedCalls.map(([, { identity, outcome }]) => {
    const { tier, uncertainty_basis: basis } = JSON.parse(makeReceipt(identity, outcome, onFault).receipt);
    return `${tier} ${basis}`;
  });
  expect(tiers).toEqual(['parametric combined', 'parametric combined', 'proxy combined', 'telemetry combined']);
});

test('the clock goes on while this process works', () => {
  const before = cpuMs();
  expect(Number.isFinite(before)).toBe(true);
  const started = performance.now();
  while (performance.now() - started < 30);
  expect(cpuMs()).toBeGreaterThan(before);
});
