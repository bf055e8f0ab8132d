import fc from 'fast-check';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { type CountedReceipt, createUsageMetrics } from './usage-metrics.ts';

const plain: CountedReceipt = {
  model: 'm',
  region: 'eu',
  energy_wh: 1,
  carbon_g: 2,
  water_ml: 3,
  promptTokens: 4,
  completionTokens: 5,
};

async function counted(most: number, calls: readonly (readonly [account: string, receipt: CountedReceipt])[]) {
  const metrics = createUsageMetrics(most);
  const registry = new Registry();
  metrics.register(registry);
  for (const [account, receipt] of calls) metrics.count(account, receipt);
  const read = await registry.getMetricsAsJSON();
  return (name: string, labels: Readonly<Record<string, string>> = {}) => {
    const values = read.find((metric) => metric.name === name)?.values ?? [];
    const fitting = values.filter((value) =>
      Object.entries(labels).every(([label, text]) => (value.labels as Record<string, unknown>)[label] === text),
    );
    return { series: fitting.length, sum: fitting.reduce((sum, { value }) => sum + value, 0) };
  };
}

describe('counters of what calls used', () => {
  it('count each receipt by account, model and region, and simulated calls apart', async () => {
    const of = await counted(10, [
      ['a', plain],
      ['a', plain],
      ['b', { ...plain, region: null }],
      ['a', { ...plain, simulated: true }],
    ]);
    const labels = { account: 'a', model: 'm', region: 'eu', simulated: 'false' };
    expect([of('gw_usage_calls_total', labels), of('gw_usage_energy_wh_total', labels).sum]).toEqual([
      { series: 1, sum: 2 },
      2,
    ]);
    expect([of('gw_usage_carbon_grams_total', labels).sum, of('gw_usage_water_ml_total', labels).sum]).toEqual([4, 6]);
    expect(of('gw_usage_tokens_total', { ...labels, type: 'prompt' }).sum).toBe(8);
    expect(of('gw_usage_tokens_total', { ...labels, type: 'completion' }).sum).toBe(10);
    expect(of('gw_usage_calls_total', { account: 'b', region: 'unknown' }).sum).toBe(1);
    expect(of('gw_usage_calls_total', { simulated: 'true' }).sum).toBe(1);
  });

  it('count a degraded receipt as a call without amounts', async () => {
    const none = { energy_wh: null, carbon_g: null, water_ml: null, promptTokens: null, completionTokens: null };
    const of = await counted(10, [['a', { ...plain, ...none }]]);
    expect([
      of('gw_usage_calls_total').sum,
      of('gw_usage_energy_wh_total').sum,
      of('gw_usage_tokens_total').sum,
    ]).toEqual([1, 0, 0]);
  });

  it('are no more than allowed for 10,000 names of models, and lose none of their calls', async () => {
    const most = 100;
    const of = await counted(
      most,
      Array.from({ length: 10_000 }, (_, n) => ['a', { ...plain, model: `m${n}` }] as const),
    );
    expect(of('gw_usage_calls_total')).toEqual({ series: most + 1, sum: 10_000 });
    expect(of('gw_usage_tokens_total').series).toBe(2 * (most + 1));
    expect(of('gw_usage_energy_wh_total').sum).toBe(10_000);
    expect(of('gw_usage_calls_total', { account: 'other', model: 'other', region: 'other' }).sum).toBe(9_900);
  });

  it('add up to the receipts, however few sets of labels there may be', async () => {
    const some = fc.record({
      model: fc.constantFrom('m', 'n', 'o'),
      region: fc.constantFrom('eu', 'us', null),
      energy_wh: fc.option(fc.integer({ min: 0, max: 1000 })),
      promptTokens: fc.option(fc.integer({ min: 0, max: 1000 })),
    });
    const calls = fc.array(fc.tuple(fc.constantFrom('a', 'b'), some));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 5 }), calls, async (most, drawn) => {
        const made = drawn.map(([account, fields]) => [account, { ...plain, ...fields }] as const);
        const of = await counted(most, made);
        const sumOf = (field: 'energy_wh' | 'promptTokens') =>
          made.reduce((sum, [, receipt]) => sum + (receipt[field] ?? 0), 0);
        expect(of('gw_usage_calls_total').sum).toBe(made.length);
        expect(of('gw_usage_calls_total').series).toBeLessThanOrEqual(most + 1);
        expect(of('gw_usage_energy_wh_total').sum).toBe(sumOf('energy_wh'));
        expect(of('gw_usage_tokens_total', { type: 'prompt' }).sum).toBe(sumOf('promptTokens'));
      }),
    );
  });
});
