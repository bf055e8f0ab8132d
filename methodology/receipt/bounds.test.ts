import { describe, expect, it } from 'vitest';
import { readGpuCounters } from '../facts/telemetry/gpu-counters.ts';
import { lineageOf } from '../lineage/lineage.ts';
import { coverageOf } from '../testdata/draws.ts';
import { call, dense70b, embedding } from '../testdata/facts.ts';
import { shapes } from '../testdata/telemetry.ts';
import { assess, type CallFacts, type Impact } from './assess.ts';

function impact(facts: CallFacts): Impact {
  const assessment = assess(facts);
  if (!assessment.ok) throw new Error(assessment.explanation);
  return assessment.impact;
}

/** How far the bounds are from the value, as ratios. */
function widths(facts: CallFacts) {
  const { carbon_g, carbon_high_g, carbon_low_g, energy_high_wh, energy_low_wh, energy_wh, ...rest } = impact(facts);
  const { water_high_ml, water_low_ml, water_ml } = rest;
  return {
    energy: [energy_wh / energy_low_wh, energy_high_wh / energy_wh],
    carbon: [carbon_g / carbon_low_g, carbon_high_g / carbon_g],
    water: [Number(water_ml) / Number(water_low_ml), Number(water_high_ml) / Number(water_ml)],
  };
}

type Amount = keyof ReturnType<typeof widths>;

function isWider(wide: CallFacts, narrow: CallFacts, amounts: readonly Amount[], ends: readonly number[] = [0, 1]) {
  const [a, b] = [widths(wide), widths(narrow)];
  for (const amount of amounts) for (const end of ends) expect(a[amount][end]).toBeGreaterThan(Number(b[amount][end]));
}

const measuredPue = { kind: 'measured', source: 'test', period: null } as const;
const all: readonly Amount[] = ['energy', 'carbon', 'water'];
const annual = {
  ...call.grid,
  signal: 'annual',
  periodStart: '2023-01-01T00:00:00.000Z',
  periodEnd: '2024-01-01T00:00:00.000Z',
} as NonNullable<CallFacts['grid']>;
const onH100: CallFacts = { ...call, site: { ...call.site, accelerators: { model: 'H100-SXM5-80GB', count: 8 } } };
const proxy: CallFacts = { ...call, requestedTier: 'proxy' };
const of = (parameters: number | readonly [number, number], more: Partial<CallFacts> = {}): CallFacts => {
  const [min, max] = typeof parameters === 'number' ? [parameters, parameters] : parameters;
  const range = { min, max };
  return { ...call, model: { ...dense70b, activeParametersB: range, totalParametersB: range }, ...more };
};
const total = shapes.neuralwatt?.(0.3) ?? null;
const measured: CallFacts = { ...call, telemetry: total };
const counters = (callTokens: number, allTokens: number): CallFacts => ({
  ...call,
  telemetry: readGpuCounters({
    before: { atS: 1_700_000_000, energyMj: { a: 0 } },
    after: { atS: 1_700_000_015, energyMj: { a: (0.2 * 3.6e6 * allTokens) / callTokens } },
    callTokens,
    allTokens,
  }),
});

describe('bounds', () => {
  it('are those of the sources combined, in every tier', () => {
    for (const facts of [call, proxy, measured, counters(500, 200_000)]) {
      expect(impact(facts).uncertainty_basis).toBe('combined');
      const { carbon, energy } = widths(facts);
      for (const ratio of [...energy, ...carbon]) expect(ratio).toBeGreaterThan(1.05);
    }
  });

  it('cannot be bought narrower by stating a range, however small', () => {
    isWider(of([69.9, 70.1]), of(70), all);
    isWider(of([8, 28]), of(18), all);
  });

  it.each<[string, CallFacts, CallFacts, readonly Amount[]]>([
    ['a class that stands in for the model', proxy, call, all],
    [
      'other accelerators than the modelled',
      { ...call, site: { ...call.site, accelerators: { model: 'A100', count: 16 } } },
      onH100,
      all,
    ],
    ['accelerators that nobody states', call, onH100, all],
    [
      'estimated token counts',
      { ...call, usage: { promptTokens: 1200, cachedPromptTokens: 200, completionTokens: 400, estimated: 'both' } },
      call,
      all,
    ],
    ['a yearly grid value', { ...call, grid: annual }, call, ['carbon']],
    [
      'an older yearly value',
      { ...call, grid: { ...annual, periodEnd: '2022-01-01T00:00:00.000Z' } },
      { ...call, grid: annual },
      ['carbon'],
    ],
    ['a forecast', { ...call, grid: { ...annual, signal: 'forecast' } }, call, ['carbon']],
    ['a zone that nobody named', { ...call, grid: { ...Object(call.grid), zone: 'WOR' } }, call, ['carbon']],
    ['guessed parameters', { ...call, model: { ...dense70b, parametersSource: 'guessed by its name' } }, call, all],
    ['an assumed PUE', call, { ...call, site: { ...call.site, pueEvidence: measuredPue } }, all],
    ['more overhead', { ...call, site: { ...call.site, pue: 1.6 } }, call, ['energy']],
    ['accelerators shared with other calls', counters(500, 200_000), counters(500, 500), all],
  ])('are wider with %s', (_, wide, narrow, amounts) => isWider(wide, narrow, amounts));

  it('of a class hold those of its stand-in, where that is a range', () => {
    const range = { min: 44, max: 132 };
    const standIn = { ...dense70b, activeParametersB: range, totalParametersB: { min: 440, max: 440 } };
    const ofClass = impact({ ...proxy, model: { ...dense70b, modelClass: 'frontier' }, upstreamLatencyS: null });
    const ofRange = impact({ ...call, model: standIn, upstreamLatencyS: null });
    expect(ofClass.energy_low_wh).toBeLessThan(ofRange.energy_low_wh);
    expect(ofClass.energy_high_wh).toBeGreaterThan(ofRange.energy_high_wh);
  });

  it('of a range that reaches beyond the fit are not narrower than those of its upper end', () => {
    const at = (min: number): CallFacts => {
      const model = { ...dense70b, activeParametersB: { min: 40, max: 40 }, totalParametersB: { min, max: 440 } };
      return { ...call, model, upstreamLatencyS: null };
    };
    expect(impact(at(150)).energy_low_wh).toBeLessThanOrEqual(impact(at(440)).energy_low_wh);
  });

  it('of water are wider where the average of the world stands for a country', () => {
    const at = (waterLPerKwh: number): CallFacts => ({ ...call, grid: { ...Object(call.grid), waterLPerKwh } });
    isWider(at(3.908), at(3.907), ['water']);
    // The bounds widen by more than a larger share of water from the grid can explain.
    const [world, own] = [widths(at(3.908)).water, widths(at(3.907)).water];
    for (const end of [0, 1]) expect(Number(world[end]) / Number(own[end])).toBeGreaterThan(1.05);
    expect(lineageOf(at(3.908)).ok).toBe(true);
  });

  it('have the attention in a long prompt, of which the lower one has none', () => {
    const usage = { promptTokens: 128_000, cachedPromptTokens: 0, completionTokens: 0 };
    const steps = lineageOf({ ...call, usage });
    const of = (step: string) => (steps.ok ? steps.lineage.steps.find(({ id }) => id === step)?.output.value : null);
    // Twice 80 layers of width 8192 for each token of context, against 2 operations for each of 70 billion parameters.
    const extra = 1 + (128_000 * 80 * 8192) / 70e9;
    expect(Number(of('attention')) / extra).toBeCloseTo(1, 1);
    expect(Number(of('attention@most')) - 1).toBeCloseTo(2 * (Number(of('attention')) - 1), 9);
    expect(of('attention@least')).toBe(1);
  });

  it('are higher for a long context, to which every token that is written attends', () => {
    const after = (promptTokens: number, completionTokens = 1000): CallFacts => ({
      ...call,
      usage: { promptTokens, cachedPromptTokens: promptTokens, completionTokens },
    });
    isWider(after(100_000), after(1000), all, [1]);
    isWider(after(0, 100_000), after(0), all, [1]);
  });

  it('hold the overhead where a total does not say whether it has it', () => {
    const at = (includesPue: boolean | null): CallFacts => ({
      ...measured,
      site: { ...call.site, pue: 1.45 },
      telemetry: { ...Object(total), includesPue },
    });
    expect(impact(at(null)).energy_high_wh).toBeGreaterThan(0.3 * 1.45);
    expect(impact(at(null)).boundary_excludes).toContain('overhead_energy');
    expect(impact(at(true)).boundary_excludes).not.toContain('overhead_energy');
    isWider(at(null), at(true), ['energy', 'carbon'], [1]);
  });
});

describe('Monte Carlo over the stated distributions', () => {
  const totalThat = (includesPue: boolean | null, wh = 0.3): CallFacts => ({
    ...call,
    site: { ...call.site, pue: 1.45 },
    telemetry: { ...Object(shapes.neuralwatt?.(wh)), includesPue },
  });
  const ofFrontier = {
    ...call.model,
    activeParametersB: null,
    totalParametersB: null,
    modelClass: 'frontier',
  } as const;
  const unknown = { ...call.model, activeParametersB: null, totalParametersB: null, modelClass: null } as const;
  it.each<[string, CallFacts]>([
    ['a known model', call],
    ['a range of parameters', of([8, 28])],
    ['a model beyond the fit, on a yearly grid value', of(405, { grid: annual })],
    ['an embedding', { ...call, model: embedding }],
    ['a long prompt', { ...call, usage: { promptTokens: 60_000, cachedPromptTokens: 0, completionTokens: 200 } }],
    ['a long answer', { ...call, usage: { promptTokens: 100, cachedPromptTokens: 0, completionTokens: 100_000 } }],
    [
      'estimated counts',
      { ...call, usage: { promptTokens: 1200, cachedPromptTokens: 200, completionTokens: 400, estimated: 'both' } },
    ],
    ['a class', proxy],
    ['the class frontier', { ...call, model: ofFrontier }],
    ['a measured total of which nobody knows whether the overhead is in it', totalThat(null)],
    ['one with the overhead', totalThat(true)],
    ['one without', totalThat(false)],
    ['one far above the model', totalThat(null, 8)],
    ['one far below', totalThat(null, 0.01)],
    ['one far below without the overhead', totalThat(false, 0.01)],
    ['one far above with it', totalThat(true, 8)],
    ['one of a model that nobody knows', { ...totalThat(null), model: unknown }],
    ['one of an unknown model without the overhead', { ...totalThat(false, 0.05), model: unknown }],
    ['accelerators that were shared', counters(500, 200_000)],
    ['accelerators far from the model', { ...counters(500, 500), telemetry: shapes.gpu_counters?.(12) ?? null }],
    ['accelerators of this call alone', counters(500, 500)],
  ])('nine of ten draws or more lie inside the bounds of %s', (_, facts) => {
    const coverage = coverageOf(facts, impact(facts));
    expect(coverage.length).toBeGreaterThan(1);
    for (const share of coverage) {
      // With a single spread the coverage is nine in ten, except for the chance of the draws.
      expect(share).toBeGreaterThan(0.895);
      // Bounds that hold everything would say nothing, but of a model of any size.
      if (facts.model !== unknown) expect(share).toBeLessThan(1);
    }
  });
});

describe('the source of a bound', () => {
  const cited = /doi:10\.|arXiv:\d{4}\.\d{5}|https:\/\/|^assumption of this methodology/;

  it.each<[string, CallFacts]>([
    ['a modelled receipt', call],
    ['one of a class', proxy],
    ['one of a range', of([8, 28])],
    ['a measured total', measured],
    ['measured accelerators', counters(500, 200_000)],
  ])('is cited, or called an assumption, in the lineage of %s', (_, facts) => {
    const result = lineageOf(facts);
    if (!result.ok) throw new Error(result.explanation);
    const { factors, steps } = result.lineage;
    const byId = new Map(steps.map((step) => [step.id, step]));
    const sources = new Map(factors.map(({ name, source }) => [name, source]));
    const ratios = new Map<string, string>();
    const follow = (id: string): void => {
      for (const name of byId.get(id)?.inputs ?? []) {
        const source = sources.get(name);
        if (source === undefined) follow(name);
        else if (/ratio|spread|drift|floor|lifecycle|combustion|_max$|aspect/.test(name)) ratios.set(name, source);
      }
    };
    for (const field of [
      'energy_low_wh',
      'energy_high_wh',
      'carbon_low_g',
      'carbon_high_g',
      'water_low_ml',
      'water_high_ml',
    ]) {
      if (field.startsWith('water') && !byId.has('water_ml')) continue;
      expect(byId.has(field)).toBe(true);
      follow(field);
    }
    expect(ratios.size).toBeGreaterThan(2);
    for (const source of ratios.values()) expect(source).toMatch(cited);
  });
});

it('no formula with a part of ours is credited to EcoLogits', () => {
  const result = lineageOf(call);
  if (!result.ok) throw new Error(result.explanation);
  const origins = new Map(result.lineage.steps.map(({ id, origin }) => [id, origin]));
  for (const id of ['writing_energy', 'request_it_energy', 'request_embodied_gwp']) {
    expect(origins.get(id), id).toBe('gw');
  }
  expect(origins.get('request_usage_gwp')).toBe('ecologits-0.11.3');
});
