import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { servesTelemetry } from '../choice/tier.ts';
import { digestOf } from '../documents/digest.ts';
import type { MethodologyId } from '../documents/methodologies.ts';
import { readGpuCounters } from '../facts/telemetry/gpu-counters.ts';
import type { TelemetryReading, TelemetryResult } from '../facts/telemetry/reading.ts';
import { lineageOf } from '../lineage/lineage.ts';
import { verify } from '../lineage/recompute.ts';
import { exact } from '../testdata/exact-decimal.ts';
import { call, calls, dense70b, embedding } from '../testdata/facts.ts';
import { measuredCalls, shapes } from '../testdata/telemetry.ts';
import { assess, type CallFacts, type Impact } from './assess.ts';

const measured = (shape: string, wh: number): TelemetryResult => shapes[shape]?.(wh) ?? null;
/** The share of a call in counters that rose by `wh`. */
const counter = (wh: number, callTokens = 500): TelemetryResult =>
  readGpuCounters({
    before: { atS: 1_700_000_000, energyMj: { a: 0 } },
    after: { atS: 1_700_000_015, energyMj: { a: (wh * 3.6e6 * 200_000) / 500 } },
    callTokens,
    allTokens: 200_000,
  });
const withReading = (telemetry: TelemetryResult, other: Partial<CallFacts> = {}): CallFacts => ({
  ...call,
  ...other,
  telemetry,
});

function impact(facts: CallFacts, methodology?: MethodologyId): Impact {
  const assessment = assess(facts, methodology);
  if (!assessment.ok) throw new Error(assessment.explanation);
  return assessment.impact;
}

/** Parametric: 0.234 Wh for this call, of which 0.146 Wh in the accelerators. */
const total = measured('neuralwatt', 0.3);
const counted = measured('gpu_counters', 0.2);
const modelled = impact(call);
const unknownModel = { ...dense70b, activeParametersB: null, totalParametersB: null, modelClass: null };

describe('a measured total', () => {
  it('wins in auto, is what the receipt states, and is not split', () => {
    expect(impact(withReading(total))).toMatchObject({
      tier: 'telemetry',
      energy_wh: 0.3,
      energy_accelerator_wh: null,
      energy_host_wh: null,
      energy_idle_wh: null,
      energy_overhead_wh: null,
      energy_split: 'unavailable',
      uncertainty_basis: 'combined',
      carbon_operation_g: 0.098895,
      carbon_embodied_g: expect.closeTo(Number(modelled.carbon_embodied_g), 10),
    });
    expect(impact(withReading(total)).tier_reason).toMatch(/^auto: measured energy as reported .* not verified/);
    expect(impact(withReading(total, { requestedTier: 'telemetry' })).tier_reason).toMatch(/^as requested/);
  });

  it('does not replace an explicit modelled tier', () => {
    for (const requestedTier of ['proxy', 'parametric'] as const) {
      const facts = { ...call, requestedTier };
      expect(assess({ ...facts, telemetry: total })).toEqual(assess(facts));
    }
  });

  it('has no embodied carbon and no SCI where the parameters are not known, and names what it leaves out', () => {
    const { boundary_excludes, carbon_embodied_g, carbon_g, carbon_operation_g, sci_g_per_request, tier_reason } =
      impact(withReading(total, { model: unknownModel }));
    expect({ carbon_embodied_g, sci_g_per_request }).toEqual({ carbon_embodied_g: null, sci_g_per_request: null });
    expect(carbon_g).toBe(carbon_operation_g);
    expect(boundary_excludes).toContain('embodied_carbon');
    expect(tier_reason).toContain('as a model between the');
  });

  it('has water only where it is known whether the overhead is in it', () => {
    const of = (includesPue: boolean | null) => impact(withReading({ ...(total as TelemetryReading), includesPue }));
    expect(of(null).water_ml).toBeNull();
    expect(of(null).boundary_excludes).toContain('water');
    expect(of(true).water_ml).toBeCloseTo((0.3 / 1.2) * (0.3 + 1.2 * 1.947), 9);
    expect(of(false).water_ml).toBeCloseTo(0.3 * (0.3 + 1.2 * 1.947), 9);
    expect(of(false).boundary_excludes).toContain('overhead_energy');
    expect(of(true).boundary_excludes).not.toContain('overhead_energy');
  });

  it('cannot serve the narrow boundary: auto falls to parametric with the reason, explicit is refused', () => {
    const narrow = impact(withReading(total, { boundary: 'narrow' }));
    expect(narrow).toMatchObject({ tier: 'parametric', energy_split: 'modelled' });
    expect(narrow.tier_reason).toContain('measured energy not used: a total does not tell the accelerator');
    const explicit = assess(withReading(total, { boundary: 'narrow', requestedTier: 'telemetry' }));
    expect(explicit).toMatchObject({ ok: false, reason: 'tier_unavailable' });
    expect(servesTelemetry('neuralwatt', 'narrow')).toBe(false);
    expect(servesTelemetry('neuralwatt', 'comprehensive')).toBe(true);
    expect(servesTelemetry('gpu_counters', 'narrow')).toBe(true);
    expect(servesTelemetry('constructor', 'comprehensive')).toBe(false);
    expect(servesTelemetry(null, 'comprehensive')).toBe(false);
  });

  it("of the provider's EcoLogits is no measurement: the call is modelled, and says so", () => {
    for (const shape of ['ecologits_impacts', 'ecologits_range']) {
      const facts = withReading(measured(shape, 0.3));
      expect({ ...impact(facts), tier_reason: '' }).toEqual({ ...modelled, tier_reason: '' });
      const why = "it is the provider's own EcoLogits estimate, not a measurement";
      expect(impact(facts).tier_reason).toContain(`measured energy not used: ${why}`);
      const lineage = lineageOf(facts);
      expect(lineage.ok && lineage.lineage.telemetry).toMatchObject({
        used: false,
        energy_source: 'provider_estimated',
        stated: { unit: 'kWh' },
      });
      expect(assess({ ...facts, requestedTier: 'telemetry' })).toMatchObject({ reason: 'tier_unavailable' });
      expect(assess({ ...facts, model: unknownModel })).toMatchObject({ reason: 'model_parameters_unknown' });
      expect(assess({ ...facts, usage: null })).toMatchObject({ reason: 'usage_missing' });
    }
    expect(servesTelemetry('ecologits_impacts', 'comprehensive')).toBe(false);
  });
});

describe('measured accelerators', () => {
  it('stand in their component; host is modelled, idle and overhead follow', () => {
    const figures = impact(withReading(counted));
    expect(figures).toMatchObject({ tier: 'telemetry', energy_split: 'measured' });
    const host = modelled.energy_host_wh ?? Number.NaN;
    expect(figures.energy_accelerator_wh).toBeCloseTo(0.2, 10);
    expect(figures.energy_host_wh).toBeCloseTo(host, 10);
    expect(figures.energy_idle_wh).toBeCloseTo(0.1 * (0.2 + host), 10);
    expect(figures.energy_overhead_wh).toBeCloseTo(0.2 * 1.1 * (0.2 + host), 10);
    expect(figures.tier_reason).toContain('over 15 s, by share of the tokens');
    expect(figures.tier_reason).toContain('host and idle are modelled');
  });

  it('say beside which hardware the rest was modelled, if the deployment states another', () => {
    const site = { ...call.site, accelerators: { model: 'MI300X', count: 8 } };
    const unlike = 'accelerators like H100 or B200, while the deployment states 8 × MI300X';
    expect(impact(withReading(counted, { site })).tier_reason).toContain(unlike);
    expect(impact(withReading(total, { site })).tier_reason).toContain(unlike);
    // Nothing of a narrow receipt with measured accelerators is modelled.
    expect(impact(withReading(counted, { site, boundary: 'narrow' })).tier_reason).not.toContain('MI300X');
  });

  it('serve the narrow boundary, also for an unknown model', () => {
    const narrow = { boundary: 'narrow', requestedTier: 'telemetry' } as const;
    for (const model of [dense70b, unknownModel]) {
      expect(impact(withReading(counted, { ...narrow, model }))).toMatchObject({ energy_wh: 0.2, water_ml: null });
    }
    const wide = assess(withReading(counted, { model: unknownModel, requestedTier: 'telemetry' }));
    expect(wide).toMatchObject({ ok: false, reason: 'tier_unavailable' });
  });
});

describe('the modelled energy beside the measured one', () => {
  it.each<[number, string]>([
    [0.3, '; plausible, 1.28 times the 0.234 Wh of the parametric tier;'],
    [1.1, '; plausible, 4.7 times the 0.234 Wh of the parametric tier;'],
    [
      1.2,
      '; 5.13 times the 0.234 Wh of the parametric tier, further from it than 5 times, so one of them is doubtful;',
    ],
    [0.047, '; plausible, 0.201 times the 0.234 Wh of the parametric tier;'],
    [
      0.046,
      '; 0.197 times the 0.234 Wh of the parametric tier, further from it than 5 times, so one of them is doubtful;',
    ],
  ])('%d Wh', (wh, words) => {
    const facts = withReading(measured('neuralwatt', wh));
    const value = impact(facts);
    expect(value.energy_wh).toBe(wh);
    expect(value.modelled_energy_wh).toBeCloseTo(modelled.energy_wh, 10);
    expect(value.tier_reason).toContain(words);
    const result = lineageOf(facts);
    if (!result.ok) throw new Error(result.explanation);
    expect(result.lineage.modelled_energy_wh).toBe(value.modelled_energy_wh);
    expect(verify(result.lineage, { ...value }).ok).toBe(true);
    expect(verify(result.lineage, { ...value, modelled_energy_wh: wh }).ok).toBe(false);
  });

  it('is of the accelerators where they were measured', () => {
    expect(impact(withReading(counted)).modelled_energy_wh).toBeCloseTo(modelled.energy_accelerator_wh ?? 0, 11);
  });

  const narrow = { boundary: 'narrow' } as const;
  const range = { ...dense70b, activeParametersB: { min: 44, max: 132 }, totalParametersB: { min: 440, max: 440 } };
  const ofClass = { ...unknownModel, modelClass: 'large' } as const;
  const nothing = { promptTokens: 0, cachedPromptTokens: 0, completionTokens: 0 };
  it.each<[string, CallFacts, number]>([
    ['a total', withReading(total), modelled.energy_wh],
    ['a total of a class', withReading(total, { model: ofClass }), impact({ ...call, model: ofClass }).energy_wh],
    ['a total of a range', withReading(total, { model: range }), impact({ ...call, model: range }).energy_wh],
    [
      'a total without overhead',
      withReading({ ...(total as TelemetryReading), includesPue: false }),
      modelled.energy_wh / call.site.pue,
    ],
    ['accelerators', withReading(counted), Number(modelled.energy_accelerator_wh)],
    ['accelerators, narrow', withReading(counted, narrow), Number(modelled.energy_accelerator_wh)],
    [
      'accelerators of a class',
      withReading(counted, { model: ofClass, ...narrow }),
      impact({ ...call, model: ofClass, ...narrow }).energy_wh,
    ],
    ['a call without tokens', withReading(counter(0.5, 0), { usage: nothing }), 0],
  ])('follows from steps of the lineage alone: %s', (_, facts, wh) => {
    const [value, result] = [impact(facts), lineageOf(facts)];
    if (!result.ok) throw new Error(result.explanation);
    expect(value.modelled_energy_wh).toBeCloseTo(wh, 10);
    const step = result.lineage.steps.find(({ id }) => id === 'modelled_energy_wh');
    expect(step?.output).toEqual({ value: value.modelled_energy_wh, unit: 'Wh' });
    expect(verify(result.lineage, { ...value }).ok).toBe(true);
    const claim = { modelled_energy_wh: wh * 2 + 1 };
    const { digest: _digest, ...content } = { ...result.lineage, ...claim };
    expect(verify({ ...content, digest: digestOf(content) }, { ...value, ...claim })).toMatchObject({ ok: false });
  });

  it('is absent where there is nothing to compare', () => {
    const unlike = [impact(call), impact(withReading(total, { usage: null }))];
    for (const each of unlike) expect(each.modelled_energy_wh).toBeUndefined();
  });
});

describe('a figure that cannot be right', () => {
  const reading = total as TelemetryReading;
  it.each<[string, CallFacts['telemetry'], string]>([
    ['a hundred times the modelled energy', measured('neuralwatt', 41), 'more than 100 times'],
    ['a hundredth of it', measured('neuralwatt', 0.002), 'less than 1/100'],
    ['zero with tokens', measured('neuralwatt', 0), 'zero for a call with tokens'],
    ['negative', { ...reading, energyWh: -0.3, stated: null }, 'negative'],
    ['not finite', { ...reading, energyWh: Number.NaN, stated: null }, 'not finite'],
    ['other than stated', { ...reading, energyWh: 0.31 }, 'contradict'],
    ['refused by its reader', { source: 'greenpt', refused: 'unknown_unit', raw: {} }, 'unit is not known'],
    ['of the accelerators, a hundred times', measured('gpu_counters', 21), 'more than 100 times'],
  ])(
    '(%s) is not used: auto is modelled and says why, explicit is refused with the reason',
    (_name, telemetry, why) => {
      const fallback = impact({ ...call, telemetry: telemetry ?? null });
      expect({ ...fallback, tier_reason: '' }).toEqual({ ...modelled, tier_reason: '' });
      expect(fallback.tier_reason).toMatch(/^auto: measured energy not used: the figure was refused, /);
      expect(fallback.tier_reason).toContain(why);
      const explicit = assess({ ...call, requestedTier: 'telemetry', telemetry: telemetry ?? null });
      expect(explicit).toMatchObject({ ok: false, reason: 'tier_unavailable' });
      expect(explicit.ok ? '' : explicit.explanation).toContain(why);
    },
  );

  it('of an unknown model is one far from what a model of any size takes', () => {
    const unknown = { ...unknownModel, modelClass: 'unknown' } as const;
    const narrow = { boundary: 'narrow', requestedTier: 'telemetry' } as const;
    for (const { more, shape } of [
      { shape: 'neuralwatt', more: {} },
      { shape: 'gpu_counters', more: narrow },
    ]) {
      const { energy_wh: wh } = impact({ ...call, ...more, model: unknown, requestedTier: 'proxy' });
      const of = (energy: number) => assess(withReading(measured(shape, energy), { ...more, model: unknownModel }));
      expect([of(wh * 99).ok, of(wh / 99).ok]).toEqual([true, true]);
      expect(of(wh / 1e5)).toMatchObject({ ok: false, explanation: expect.stringContaining('less than 1/100') });
      expect(of(wh * 1e5)).toMatchObject({ ok: false, explanation: expect.stringContaining('more than 100 times') });
      expect([of(1e-9).ok, of(1.5e304).ok]).toEqual([false, false]);
    }
  });

  it('in auto, where nothing can be modelled, leaves the unknown model as the reason and says what was refused', () => {
    expect(assess(withReading(measured('energy_header', 1e9), { model: unknownModel }))).toEqual({
      ok: false,
      reason: 'model_parameters_unknown',
      explanation:
        'Neither the parameter counts nor the size class of this model are known. The figure was refused, it is more than 100 times the modelled energy.',
    });
  });

  it('leaves what is missing in the facts as the reason', () => {
    const explicit = { ...withReading(total), requestedTier: 'telemetry' } as const;
    // A total needs no tokens (counts.test.ts).
    expect(assess({ ...explicit, usage: null })).toMatchObject({ ok: true, impact: { prompt_tokens: null } });
    expect(assess({ ...explicit, grid: null })).toMatchObject({ reason: 'grid_intensity_missing' });
    expect(assess({ ...explicit, telemetry: null })).toMatchObject({ reason: 'tier_unavailable' });
  });
});

it('a methodology without a measured tier pays no heed to a figure', () => {
  expect(assess(withReading(total), 'ecologits-0.11.3')).toEqual(assess(call, 'ecologits-0.11.3'));
});

it('an embedding can be measured', () => {
  const facts: CallFacts = { ...call, model: embedding };
  const wh = impact(facts).energy_wh;
  expect(impact({ ...facts, telemetry: measured('melious', wh * 2) })).toMatchObject({ tier: 'telemetry' });
});

it('every measured impact is a sum of its parts, within its bounds, and the same in JSON', () => {
  let count = 0;
  fc.assert(
    fc.property(measuredCalls, (facts) => {
      const assessment = assess(facts);
      if (!assessment.ok) {
        expect(assessment.reason).toBe('tier_unavailable');
        return;
      }
      const figures = assessment.impact;
      if (figures.tier === 'telemetry') count += 1;
      const add = (sum: bigint, part: number | null) => sum + (part === null ? 0n : exact(part));
      const { energy_accelerator_wh, energy_host_wh, energy_idle_wh, energy_overhead_wh, energy_split } = figures;
      const parts = [energy_accelerator_wh, energy_host_wh, energy_idle_wh, energy_overhead_wh];
      if (energy_split !== 'unavailable') expect(parts.reduce(add, 0n)).toBe(exact(figures.energy_wh));
      expect([figures.carbon_operation_g, figures.carbon_embodied_g].reduce(add, 0n)).toBe(exact(figures.carbon_g));
      expect(figures.energy_low_wh <= figures.energy_wh && figures.energy_wh <= figures.energy_high_wh).toBe(true);
      expect(figures.carbon_low_g <= figures.carbon_g && figures.carbon_g <= figures.carbon_high_g).toBe(true);
      expect(JSON.parse(JSON.stringify(figures))).toEqual(figures);
    }),
    { numRuns: cases(2000) },
  );
  expect(count).toBeGreaterThan(cases(2000) / 20);
});

const wide = (facts: CallFacts) => assess({ ...facts, boundary: 'comprehensive' });
const grew = (larger: number, smaller: number) => expect(larger).toBeGreaterThanOrEqual(smaller * (1 - 1e-10));

it('a measured call is no larger in the narrow boundary than in the comprehensive one, whichever tier each gets', () => {
  fc.assert(
    fc.property(calls, fc.double({ min: 0.02, max: 50, noNaN: true }), (facts, ratio) => {
      const modelledWh = impact({ ...facts, requestedTier: 'auto', boundary: 'narrow' }).energy_wh;
      const measuredFacts = { ...facts, requestedTier: 'auto', telemetry: counter(modelledWh * ratio) } as const;
      const comprehensive = impact({ ...measuredFacts, boundary: 'comprehensive' });
      const narrow = impact({ ...measuredFacts, boundary: 'narrow' });
      grew(comprehensive.energy_wh, narrow.energy_wh);
      grew(comprehensive.carbon_g, narrow.carbon_g);
      expect(narrow.water_ml).toBeNull();
    }),
    { numRuns: cases(1000) },
  );
});

it('a larger measured figure never gives a smaller receipt, and a larger share of the same counters neither', () => {
  const shares = fc.tuple(fc.nat(100_000), fc.nat(100_000));
  fc.assert(
    fc.property(measuredCalls, shares, (facts, [tokens, more]) => {
      const reading = facts.telemetry;
      if (!reading || 'refused' in reading || reading.scope !== 'total') return;
      const bigger = { ...reading, energyWh: reading.energyWh * 1.5, stated: null };
      const [before, after] = [
        wide({ ...facts, telemetry: { ...reading, stated: null } }),
        wide({ ...facts, telemetry: bigger }),
      ];
      if (before.ok && after.ok && before.impact.tier === 'telemetry' && after.impact.tier === 'telemetry') {
        grew(after.impact.energy_wh, before.impact.energy_wh);
        grew(after.impact.carbon_g, before.impact.carbon_g);
      }
      const [small, large] = [tokens, tokens + more].map((callTokens) => counter(0.5, callTokens));
      if (small && large && 'energyWh' in small && 'energyWh' in large) grew(large.energyWh, small.energyWh);
    }),
    { numRuns: cases(1000) },
  );
});

it('a call without tokens is measured as what its share of the counters is: nothing', () => {
  const usage = { promptTokens: 0, cachedPromptTokens: 0, completionTokens: 0 };
  const facts = { ...call, usage, telemetry: counter(0.5, 0) } as const;
  expect(impact(facts)).toMatchObject({ tier: 'telemetry', energy_accelerator_wh: 0, energy_wh: 0, carbon_g: 0 });
});
