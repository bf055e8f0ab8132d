/**
 * The conclusions that a reader may draw from a tier and its bounds. Each case was once found false; it has a truth that must
 * lie inside the bounds, or a better known case whose bounds must not be wider.
 *
 * The rules behind them have their tests in `bounds.test.ts`, those of measured energy in `measured.test.ts`.
 */
import { describe, expect, it } from 'vitest';
import { annualReading } from '../facts/grid-annual.ts';
import type { TelemetryReading } from '../facts/telemetry/reading.ts';
import { lineageOf } from '../lineage/lineage.ts';
import { call, dense70b, hourly } from '../testdata/facts.ts';
import { shapes } from '../testdata/telemetry.ts';
import { assess, type CallFacts, type Impact } from './assess.ts';

function impactOf(more: Partial<CallFacts>): Impact {
  const assessment = assess({ ...call, ...more });
  if (!assessment.ok) throw new Error(assessment.explanation);
  return assessment.impact;
}

const of = (active: readonly [number, number], total = active): Partial<CallFacts> => {
  const [activeParametersB, totalParametersB] = [active, total].map(([min, max]) => ({ min, max }));
  if (!activeParametersB || !totalParametersB) throw new Error('no range');
  return { model: { ...dense70b, activeParametersB, totalParametersB } };
};
const total = (wh: number, includesPue: boolean | null = null): Partial<CallFacts> => ({
  telemetry: { ...(shapes.neuralwatt?.(wh) as TelemetryReading), includesPue },
});
const h100 = { ...call.site, accelerators: { model: 'H100-SXM5-80GB', count: 8 } };

const ofClass = { ...dense70b, activeParametersB: null, totalParametersB: null };

type Field = 'energy' | 'carbon' | 'water';
const bounds = (impact: Impact): Record<Field, readonly [number, number]> => ({
  energy: [impact.energy_low_wh, impact.energy_high_wh],
  carbon: [impact.carbon_low_g, impact.carbon_high_g],
  water: [Number(impact.water_low_ml), Number(impact.water_high_ml)],
});

describe('the truth lies inside the bounds of', () => {
  const modelled = impactOf({ site: h100 });
  const written = { site: h100, usage: { promptTokens: 0, cachedPromptTokens: 0, completionTokens: 400 } };
  it.each<[string, Partial<CallFacts>, Field, number]>([
    [
      'a total that does not say whether it holds the overhead, if it does not',
      { ...total(0.216), site: { ...call.site, pue: 1.45 } },
      'energy',
      0.216 * 1.45,
    ],
    [
      'a total of a site that states no overhead, if it is low by 1.25 and lacks that of a good fleet',
      { ...total(0.216), site: { ...call.site, pue: 1 } },
      'energy',
      0.216 * 1.25 * 1.09,
    ],
    [
      'counters of accelerators, if the call took a fourth of its share of tokens',
      { telemetry: shapes.gpu_counters?.(0.2) ?? null, boundary: 'narrow' },
      'energy',
      0.2 / 4,
    ],
    [
      'the same, if it took four times its share',
      { telemetry: shapes.gpu_counters?.(0.2) ?? null, boundary: 'narrow' },
      'energy',
      0.2 * 4,
    ],
    [
      '16 A100, modelled as H100: at 1.46 times the energy',
      { site: { ...call.site, accelerators: { model: 'A100', count: 16 } } },
      'energy',
      modelled.energy_wh * 1.46,
    ],
    [
      'a dense model of 405 billion parameters: at 0.35 of the energy',
      of([405, 405]),
      'energy',
      impactOf(of([405, 405])).energy_wh * 0.35,
    ],
    ['a small batch: at 3.6 times the energy', written, 'energy', impactOf(written).energy_wh * 3.6],
    ['a large batch: at 0.45 of the energy', written, 'energy', impactOf(written).energy_wh * 0.45],
    [
      'a prompt of 128,000 tokens: at 2.2 times the energy of reading it',
      { usage: { promptTokens: 128_000, cachedPromptTokens: 0, completionTokens: 1 } },
      'energy',
      impactOf({ usage: { promptTokens: 128_000, cachedPromptTokens: 0, completionTokens: 1 } }).energy_wh * 2.2,
    ],
    [
      'a yearly value: at the cleanest hours of Spain',
      { grid: annualReading('ESP') },
      'carbon',
      impactOf({ grid: annualReading('ESP') }).carbon_operation_g * 0.58,
    ],
    [
      'water of the average of the world: at that of Brazil, in most years',
      { grid: { ...hourly, waterLPerKwh: 3.908 } },
      'water',
      (impactOf({ grid: { ...hourly, waterLPerKwh: 3.908 } }).water_ml as number) * 3,
    ],
  ])('%s', (_, more, field, truth) => {
    const [low, high] = bounds(impactOf(more))[field];
    expect(low).toBeLessThan(truth);
    expect(high).toBeGreaterThan(truth);
  });
});

describe('a figure that is called doubtful', () => {
  const modelled = impactOf({});
  const counters = (factor: number): Partial<CallFacts> => ({
    telemetry: shapes.gpu_counters?.(Number(modelled.energy_accelerator_wh) * factor) ?? null,
  });
  it.each<[string, Partial<CallFacts>]>([
    ['51 times below the model', total(modelled.energy_wh / 51)],
    ['58 times above it', total(modelled.energy_wh * 58)],
    ['58 times above it, with the overhead', total(modelled.energy_wh * 58, true)],
    ['accelerators 51 times below', counters(1 / 51)],
    ['accelerators 58 times above', counters(58)],
    ['narrow, 51 times below', { ...counters(1 / 51), boundary: 'narrow' }],
    ['of a class, 58 times above', { ...total(modelled.energy_wh * 58), model: ofClass }],
  ])('has bounds that hold the modelled energy too: %s', (_, facts) => {
    const impact = impactOf(facts);
    expect(impact.tier_reason).toContain('doubtful');
    const [low, high] = bounds(impact).energy;
    const sameThing =
      impact.energy_split === 'measured' && impact.boundary === 'comprehensive'
        ? modelled.energy_wh
        : Number(impact.modelled_energy_wh);
    expect(low).toBeLessThanOrEqual(sameThing);
    expect(high).toBeGreaterThanOrEqual(sameThing);
    const [least, most] = bounds(impact).carbon;
    const carbon = (sameThing / 1000) * impact.grid_intensity_g_per_kwh;
    expect(least).toBeLessThanOrEqual(carbon + Number(impact.carbon_embodied_g));
    expect(most).toBeGreaterThanOrEqual(carbon);
    expect(lineageOf({ ...call, ...facts }).ok).toBe(true);
  });

  it.each<[string, Partial<CallFacts>, string | undefined]>([
    ['counters', counters(1), 'counters'],
    ['counters far from the model', counters(58), 'counters'],
    ['a total within five times', total(modelled.energy_wh * 4.9), 'provider'],
    ['a total above five times', total(modelled.energy_wh * 5.1), 'provider_doubtful'],
    ['a total below a fifth', total(modelled.energy_wh / 5.1), 'provider_doubtful'],
    ['a total that nothing is compared with', { ...total(0.3), usage: null }, 'provider'],
    ['a total that is refused', total(modelled.energy_wh * 101), undefined],
    ['no figure', {}, undefined],
  ])('is told from others by `measured_by`: %s', (_, facts, meter) => {
    expect(impactOf(facts).measured_by).toBe(meter);
  });

  it('has bounds that grow with its distance from the model, without a step', () => {
    const of = (factor: number) => {
      const wh = modelled.energy_wh * factor;
      const [low, high] = bounds(impactOf(total(wh, true))).energy;
      return [wh / low, high / wh] as const;
    };
    for (const near of [0.95, 1, 1.05]) expect(of(near)).toEqual([expect.closeTo(1.25, 9), expect.closeTo(1.25, 9)]);
    const factors = Array.from({ length: 400 }, (_, at) => 1.02 ** at).filter((factor) => factor < 99);
    for (const [at, factor] of factors.entries()) {
      const before = factors[at - 1] ?? factor;
      const [above, below] = [of(factor)[0] / of(before)[0], of(1 / factor)[1] / of(1 / before)[1]];
      // A figure that is 2 % further has a bound that is at most twice as much further.
      for (const grown of [above, below]) {
        expect(grown).toBeGreaterThanOrEqual(1 - 1e-9);
        expect(grown).toBeLessThan(1.02 ** 2 + 1e-6);
      }
    }
  });
});

describe('what is known worse is not narrower', () => {
  const width = (more: Partial<CallFacts>, field: Field) => {
    const [low, high] = bounds(impactOf(more))[field];
    return high / low;
  };
  const annual = annualReading('DEU');
  it.each<[string, Partial<CallFacts>, Partial<CallFacts>, readonly Field[]]>([
    [
      'a closed model of 8 to 28 billion parameters than an open one of 18',
      of([8, 28]),
      of([18, 18]),
      ['energy', 'carbon', 'water'],
    ],
    ['70 to 70.001 billion parameters than 70', of([70, 70.001]), of([70, 70]), ['energy', 'carbon', 'water']],
    ['a total that may lack the overhead than one that has it', total(0.3), total(0.3, true), ['energy', 'carbon']],
    [
      'other hardware than the modelled',
      { site: { ...call.site, accelerators: { model: 'A100', count: 16 } } },
      { site: h100 },
      ['energy', 'carbon', 'water'],
    ],
    [
      'the value of the year under way than that of the hour',
      {
        grid: {
          ...hourly,
          signal: 'annual',
          periodStart: '2026-01-01T00:00:00.000Z',
          periodEnd: '2027-01-01T00:00:00.000Z',
        },
      },
      {},
      ['carbon'],
    ],
    [
      'a live value that its source calls an estimate than a measured one',
      { grid: { ...hourly, isEstimated: true } },
      {},
      ['carbon'],
    ],
    ['the same, told by its match', { grid: { ...hourly, temporalMatch: 'fresh' } }, {}, ['carbon']],
    ['a forecast than a measured value', { grid: { ...hourly, temporalMatch: 'forecast' } }, {}, ['carbon']],
    [
      'a PUE of 1 than one that counts its overhead',
      { site: { ...h100, pue: 1 } },
      { site: { ...h100, pue: 1.08 } },
      ['energy', 'carbon'],
    ],
    [
      'a yearly grid value than the hour',
      { grid: annual },
      { grid: { ...hourly, gPerKwh: annual?.gPerKwh ?? 0, basis: 'lifecycle' } },
      ['carbon'],
    ],
    [
      'estimated counts than counted ones',
      { usage: { promptTokens: 1200, cachedPromptTokens: 200, completionTokens: 400, estimated: 'both' } },
      {},
      ['energy', 'carbon', 'water'],
    ],
    ['a class than the model that stands for it', { requestedTier: 'proxy' }, {}, ['energy', 'carbon', 'water']],
    ['a model than a measurement', {}, total(0.4), ['energy', 'carbon']],
  ])('%s', (_, worse, better, fields) => {
    for (const field of fields) expect(width(worse, field)).toBeGreaterThan(width(better, field));
  });
});

describe('`telemetry` is said of a measurement alone', () => {
  it("and not of a provider's own estimate", () => {
    for (const shape of ['ecologits_impacts', 'ecologits_range']) {
      const telemetry = shapes[shape]?.(0.3) ?? null;
      expect(impactOf({ telemetry }).tier).toBe('parametric');
      expect(assess({ ...call, telemetry, requestedTier: 'telemetry' })).toMatchObject({ ok: false });
    }
  });

  it('and where a simulator made it up, the lineage says so, and names no company', () => {
    const traced = lineageOf({ ...call, ...total(0.3), simulated: true });
    if (!traced.ok) throw new Error(traced.explanation);
    // The facts name the shape that was read.
    const { facts, ...words } = traced.lineage;
    expect(words).toMatchObject({ simulated: true, telemetry: { energy_source: 'simulated' } });
    expect(facts.simulated).toBe(true);
    expect(JSON.stringify(words)).not.toMatch(/neuralwatt/i);
  });
});
