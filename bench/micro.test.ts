import { makeReceipt } from '@gw/receipt-sidecar/receipt';
import { expect, test } from 'vitest';
import { cpuMs, isExceeded, microBenchmarks, receiptLimitUs, timesOf } from './micro.ts';
import { finishedCalls } from './receipt-calls.ts';

test('the time of each step is that of one run of it', () => {
  let clockMs = 0;
  const step = () => {
    clockMs += 2;
  };
  const other = () => {
    clockMs += 3;
  };
  expect(timesOf([step, other], () => clockMs)).toEqual([2000, 3000]);
});

test('every step takes its own example, and each way to a receipt has the limit', () => {
  const figures = microBenchmarks(cpuMs, 1);
  for (const { name, us } of figures) expect(us, name).toBeGreaterThan(0);
  const limits = figures.filter(({ name }) => name.startsWith('make a receipt')).map(({ limitUs }) => limitUs);
  expect(limits).toEqual([receiptLimitUs, receiptLimitUs, receiptLimitUs, receiptLimitUs]);
});

test('a step exceeds its limit above it, and never without one', () => {
  const step = (us: number, limitUs: number | null) => isExceeded({ name: 'step', us, limitUs });
  expect([step(30, 30), step(30.1, 30), step(1e6, null)]).toEqual([false, true, false]);
});

test('the receipts that are made come about in different ways', () => {
  const tiers = finishedCalls.map(([, { identity, outcome }]) => {
    const { tier, uncertainty_basis: basis } = JSON.parse(makeReceipt(identity, outcome).receipt);
    return `${tier} ${basis}`;
  });
  expect(tiers).toEqual([
    'parametric literature_default',
    'parametric parameter_range',
    'proxy literature_default',
    'telemetry literature_default',
  ]);
});

test('the clock goes on while this process works', () => {
  const before = cpuMs();
  expect(Number.isFinite(before)).toBe(true);
  const started = performance.now();
  while (performance.now() - started < 30);
  expect(cpuMs()).toBeGreaterThan(before);
});
