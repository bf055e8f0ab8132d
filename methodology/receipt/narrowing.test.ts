/**
 * "A bound is never narrower than that of a case that is known better": what replaces something known by less never raises a
 * low bound nor lowers a high one.
 *
 * It holds exactly, to the rounding of a double, for all that is replaced here. It cannot hold where the value itself is of
 * something else: bits and requests at once move the value, so those are not known here; an unknown zone has the
 * intensity of the world, so the value is kept and the zone alone is lost; and a measured total of an unknown model has no
 * embodied carbon, so of carbon its operation is compared, on a grid of one value.
 */
import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classSpans, spreads } from '../documents/factors.ts';
import type { ModelClass, ModelFacts, ParameterRange } from '../facts/facts.ts';
import { annualReading, annualZones } from '../facts/grid-annual.ts';
import { call, calls, hourly } from '../testdata/facts.ts';
import { shapes } from '../testdata/telemetry.ts';
import { assess, type CallFacts, type Impact } from './assess.ts';

const impactOf = (facts: CallFacts): Impact | null => {
  const assessment = assess(facts);
  return assessment.ok ? assessment.impact : null;
};

type Amount = 'energy' | 'carbon' | 'water';
const fields = {
  energy: ['energy_low_wh', 'energy_high_wh'],
  carbon: ['carbon_low_g', 'carbon_high_g'],
  water: ['water_low_ml', 'water_high_ml'],
} as const;

/** Twelve digits are kept of each number. */
const rounding = 1 + 1e-9;

function expectToHold(wide: Impact, narrow: Impact, amounts: readonly Amount[] = ['energy', 'carbon', 'water']): void {
  for (const [low, high] of amounts.map((amount) => fields[amount])) {
    if (wide[low] == null || narrow[low] == null) continue;
    expect(wide[low], low).toBeLessThanOrEqual(Number(narrow[low]) * rounding);
    expect(Number(wide[high]) * rounding, high).toBeGreaterThanOrEqual(Number(narrow[high]));
  }
}

/** Both have a receipt, of the same tier unless said otherwise. */
const widens = (
  narrow: fc.Arbitrary<CallFacts>,
  lose: fc.Arbitrary<(facts: CallFacts) => CallFacts>,
  amounts?: readonly Amount[],
) => {
  let compared = 0;
  fc.assert(
    fc.property(narrow, lose, (facts, less) => {
      const [known, unknown] = [impactOf(facts), impactOf(less(facts))];
      if (known === null || unknown === null || (known.tier === 'telemetry') !== (unknown.tier === 'telemetry')) return;
      compared += 1;
      expectToHold(unknown, known, amounts);
    }),
    { numRuns: cases(2000) },
  );
  expect(compared).toBeGreaterThan(cases(2000) / 10);
};

const between = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const logBetween = (min: number, max: number) => between(Math.log(min), Math.log(max)).map(Math.exp);
const at = (count: number): ParameterRange => ({ min: count, max: count });
const withModel = (facts: CallFacts, model: Partial<ModelFacts>): CallFacts => ({
  ...facts,
  model: { ...facts.model, ...model },
});

const usages = fc.record({
  promptTokens: fc.oneof(fc.nat(2000), fc.nat(300_000)),
  cachedPromptTokens: fc.nat(2000),
  completionTokens: fc.oneof(fc.nat(2000), fc.nat(30_000)),
});
/** Draws calls of models whose parameters are known. */
const known: fc.Arbitrary<CallFacts> = fc
  .tuple(calls, usages, logBetween(0.1, 200), logBetween(1, 30))
  .map(([facts, usage, active, times]) => {
    const model = { activeParametersB: at(active), totalParametersB: at(active * times) };
    return { ...withModel(facts, model), usage, requestedTier: 'auto' };
  });
/** With energy that somebody measured, from a hundredth of the modelled to a hundred times. */
const withEnergy = (facts: fc.Arbitrary<CallFacts>): fc.Arbitrary<CallFacts> =>
  fc
    .tuple(
      facts,
      fc.constantFrom('neuralwatt', 'gpu_counters'),
      fc.constantFrom(null, true, false),
      logBetween(0.012, 80),
    )
    .map(([facts, shape, includesPue, ratio]) => {
      const impact = impactOf(facts);
      const telemetry = shapes[shape]?.((impact?.energy_wh ?? 1) * ratio) ?? null;
      return { ...facts, telemetry: shape === 'neuralwatt' ? { ...Object(telemetry), includesPue } : telemetry };
    });
const either = fc.oneof(known, withEnergy(known));

describe('the bounds hold those of a case that is known better, where', () => {
  const wider = fc.tuple(logBetween(1, 5), logBetween(1, 5), logBetween(1, 5), logBetween(1, 5));
  it('parameters are a range with the known count in it', () => {
    const lose = wider.map(([a, b, c, d]) => (facts: CallFacts) => {
      const { activeParametersB: active, totalParametersB: total } = facts.model;
      if (active === null || total === null) return facts;
      const range = (of: ParameterRange, less: number, more: number) => ({ min: of.min / less, max: of.max * more });
      const all = range(total, c, d);
      const some = range(active, a, b);
      const activeParametersB = { min: Math.min(some.min, all.min), max: Math.min(some.max, all.max) };
      return withModel(facts, { activeParametersB, totalParametersB: all });
    });
    widens(either, lose);
  });

  it('a class stands for a model in it', () => {
    const slow = { quantizationBits: null, tokensPerS: null, ttftS: null };
    const members = fc
      .tuple(either, fc.constantFrom(...(Object.keys(classSpans) as ModelClass[])), between(0, 1), between(0, 1))
      .filter(([facts, name]) => (name === 'embedding') === (facts.model.kind === 'embedding'))
      .map(([facts, modelClass, a, b]): CallFacts => {
        const { active, total } = classSpans[modelClass];
        const some = active.min + (active.max - active.min) * a;
        const all = Math.max(some, total.min + (total.max - total.min) * b);
        const sizes = { activeParametersB: at(some), totalParametersB: at(all) };
        return { ...withModel(facts, { ...sizes, ...slow, modelClass }), upstreamLatencyS: null };
      });
    const lose = fc.constant((facts: CallFacts) =>
      withModel(facts, { activeParametersB: null, totalParametersB: null }),
    );
    // The embodied part of a total is not known by a class.
    widens(
      members.filter(({ telemetry }) => telemetry == null),
      lose,
    );
    widens(members, lose, ['energy', 'water']);
  });

  const nothingOf = { activeParametersB: null, totalParametersB: null, modelClass: null };
  /** Draws from the smallest model of any class to the largest; none that is published uses less than a fortieth of itself. */
  const ordinary = withEnergy(
    fc.tuple(known, logBetween(0.1, 132), logBetween(1, 40)).map(([facts, active, times]): CallFacts => {
      // No embedding model is larger than its class.
      const most = facts.model.kind === 'embedding' ? classSpans.embedding.active.max : 1000;
      const sizes = {
        activeParametersB: at(Math.min(active, most)),
        totalParametersB: at(Math.min(active * times, most)),
      };
      const plain = { quantizationBits: null, tokensPerS: null, ttftS: null };
      return { ...withModel(facts, { ...sizes, ...plain }), upstreamLatencyS: null };
    }),
  );

  it('a measured figure is of a model that is not known', () => {
    const lose = fc.constant((facts: CallFacts) => withModel(facts, nothingOf));
    widens(ordinary, lose, ['energy', 'water']);
    widens(
      ordinary.map((facts) => ({ ...facts, boundary: 'narrow' })),
      lose,
    );
  });

  it('a measured figure is of a call whose tokens nobody counted', () => {
    // As far as a call can take what is modelled of it: a rack in the time is the most that any can.
    const inTime = fc
      .tuple(ordinary, between(1, 3600))
      .map(([facts, upstreamLatencyS]): CallFacts => ({ ...facts, upstreamLatencyS }))
      .filter((facts) => (impactOf(facts)?.energy_high_wh ?? 0) < (120_000 * Number(facts.upstreamLatencyS)) / 3600)
      .filter(
        ({ usage }) => usage !== null && usage.completionTokens > 0 && usage.promptTokens > usage.cachedPromptTokens,
      );
    widens(
      inTime,
      fc.constant((facts) => ({ ...facts, usage: null })),
      ['energy', 'water'],
    );
    widens(
      inTime,
      fc.constant((facts) => ({ ...facts, usage: null, upstreamLatencyS: null })),
      ['energy', 'water'],
    );
    widens(
      inTime,
      fc.constant((facts) => ({ ...withModel(facts, nothingOf), usage: null })),
      ['energy', 'water'],
    );
  });

  it('nobody states the accelerators', () => {
    const onH100 = either.map((facts) => ({
      ...facts,
      site: { ...facts.site, accelerators: { model: 'H100-SXM5-80GB', count: 8 } },
    }));
    widens(
      onH100,
      fc.constant((facts) => ({ ...facts, site: { ...facts.site, accelerators: null } })),
    );
  });

  it('token counts are estimates', () => {
    const lose = fc.constantFrom('prompt', 'completion', 'both').map((estimated) => (facts: CallFacts) => ({
      ...facts,
      usage: facts.usage === null ? null : { ...facts.usage, estimated },
    }));
    widens(either, lose);
  });

  it('a live grid value is an estimate, an old one or one of a year', () => {
    const lose = fc
      .constantFrom<Partial<typeof hourly>>(
        { isEstimated: true },
        { signal: 'forecast' },
        {
          observedAt: '2026-11-20T09:00:00.000Z',
          periodStart: '2026-11-20T09:00:00.000Z',
          periodEnd: '2026-11-20T10:00:00.000Z',
        },
        { signal: 'annual', periodStart: '2025-01-01T00:00:00.000Z', periodEnd: '2026-01-01T00:00:00.000Z' },
      )
      .map((less) => (facts: CallFacts) => ({ ...facts, grid: { ...Object(facts.grid), ...less } }));
    widens(either, lose);
  });

  it('nobody named the zone, and its value is kept', () => {
    widens(
      either,
      fc.constant((facts) => ({ ...facts, grid: { ...Object(facts.grid), zone: 'WOR' } })),
    );
  });

  it('nobody says what a grid value counts', () => {
    const on = (basis: 'lifecycle' | 'direct' | 'unknown') => (facts: CallFacts) => ({
      ...facts,
      grid: { ...Object(facts.grid), basis },
    });
    widens(either.map(on('lifecycle')), fc.constantFrom(on('direct'), on('unknown')));
  });

  it('parameters are guessed, and a PUE is assumed', () => {
    widens(
      either,
      fc.constant((facts) => withModel(facts, { parametersSource: 'guessed by its name' })),
    );
    const evidence = (kind: 'measured' | 'assumed') => (facts: CallFacts) => ({
      ...facts,
      site: { ...facts.site, pueEvidence: { kind, source: 'test', period: null } },
    });
    widens(either.map(evidence('measured')), fc.constant(evidence('assumed')));
  });

  it('a yearly grid value is of an earlier year', () => {
    const ofYear = (year: number) => (facts: CallFacts) => ({
      ...facts,
      grid: {
        ...Object(facts.grid),
        signal: 'annual',
        periodStart: `${year}-01-01T00:00:00.000Z`,
        periodEnd: `${year + 1}-01-01T00:00:00.000Z`,
      },
    });
    widens(either.map(ofYear(2025)), fc.integer({ min: 2015, max: 2024 }).map(ofYear));
  });
});

it('a grid value of nothing has an upper bound, and one of the world holds nine of ten countries', () => {
  const grid = { ...hourly, gPerKwh: 0, basis: 'lifecycle' as const };
  expect(impactOf({ ...call, boundary: 'narrow', grid })?.carbon_high_g).toBeGreaterThan(0);
  const world = annualReading('WOR')?.gPerKwh ?? 0;
  const countries = annualZones.filter((zone) => zone !== 'WOR' && !zone.includes('-'));
  const inside = countries
    .map((zone) => annualReading(zone)?.gPerKwh ?? 0)
    .filter((g) => g >= world / spreads.gridWorldLeast && g <= world * spreads.gridWorldMost);
  // The percentiles lie between two of 212 countries.
  expect(inside.length / countries.length).toBeGreaterThan(0.89);
});

it('a call that a cache served whole has an upper bound, as if it had been read', () => {
  const usage = { promptTokens: 1200, cachedPromptTokens: 1200, completionTokens: 0 };
  const [cached, read] = [
    impactOf({ ...call, usage }),
    impactOf({ ...call, usage: { ...usage, cachedPromptTokens: 0 } }),
  ];
  expect(cached).toMatchObject({ energy_wh: 0, energy_low_wh: 0 });
  expect(cached?.energy_high_wh).toBeGreaterThan(0);
  for (const field of ['energy_high_wh', 'carbon_high_g', 'water_high_ml'] as const)
    expect(cached?.[field]).toBe(read?.[field]);
});
