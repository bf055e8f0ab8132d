import { describe, expect, it } from 'vitest';
import type { MethodologyId } from '../documents/methodologies.ts';
import { annualReading } from '../facts/grid-annual.ts';
import { call, dense70b, embedding, hourly } from '../testdata/facts.ts';
import { assess, availableTiers, type CallFacts, type Impact, type NotAssessed } from './assess.ts';

function impact(facts: CallFacts, methodology?: MethodologyId): Impact {
  const assessment = assess(facts, methodology);
  if (!assessment.ok) throw new Error(assessment.explanation);
  return assessment.impact;
}

const reasonFor = (facts: CallFacts, methodology?: 'ecologits-0.11.3'): NotAssessed | null => {
  const assessment = assess(facts, methodology);
  return assessment.ok ? null : assessment.reason;
};

const unknownModel = { ...dense70b, activeParametersB: null, totalParametersB: null, modelClass: null };
const classOnly = { ...unknownModel, modelClass: 'medium' as const };
const gpt = { ...dense70b, activeParametersB: { min: 44, max: 132 }, totalParametersB: { min: 440, max: 440 } };

describe('tiers', () => {
  it('auto takes parametric where the parameters are known, else the class, and says why', () => {
    expect(impact(call)).toMatchObject({ tier: 'parametric' });
    expect(impact(call).tier_reason).toContain('auto: no measured energy, parameter counts known');
    expect(impact({ ...call, model: classOnly })).toMatchObject({ tier: 'proxy' });
    expect(impact({ ...call, model: classOnly }).tier_reason).toContain('size class medium');
  });

  it('of a model of unknown size say so, between those of the small and the large ones', () => {
    const unknown = impact({ ...call, model: { ...unknownModel, modelClass: 'unknown' } });
    expect(unknown.tier).toBe('proxy');
    expect(unknown.tier_reason).toContain('size unknown, so the bounds are those of models of any size');
    expect(unknown.tier_reason).not.toContain('guessed');
    const [small, frontier] = (['small', 'frontier'] as const).map((modelClass) =>
      impact({ ...call, model: { ...unknownModel, modelClass } }),
    );
    expect(unknown.energy_wh).toBeGreaterThan(Number(small?.energy_wh));
    expect(unknown.energy_wh).toBeLessThan(Number(frontier?.energy_wh));
    expect(unknown.energy_low_wh).toBeLessThanOrEqual(Number(small?.energy_low_wh));
    expect(unknown.energy_high_wh).toBeGreaterThanOrEqual(Number(frontier?.energy_high_wh));
  });

  it('an explicit tier is served as asked, or refused', () => {
    expect(impact({ ...call, requestedTier: 'proxy' })).toMatchObject({ tier: 'proxy' });
    expect(impact({ ...call, requestedTier: 'parametric' })).toMatchObject({ tier: 'parametric' });
    expect(reasonFor({ ...call, requestedTier: 'parametric', model: classOnly })).toBe('tier_unavailable');
    expect(reasonFor({ ...call, requestedTier: 'proxy', model: { ...dense70b, modelClass: null } })).toBe(
      'tier_unavailable',
    );
    expect(reasonFor({ ...call, requestedTier: 'telemetry' })).toBe('tier_unavailable');
  });

  it('that wait for counters are modelled under auto, which says so, and are pending if telemetry was asked for', () => {
    const waiting = { ...call, telemetryFollows: true } as const;
    expect(impact(waiting).tier_reason).toMatch(/^auto: no measured energy yet \(a later version may have it\)/);
    expect({ ...impact(waiting), tier_reason: '' }).toEqual({ ...impact(call), tier_reason: '' });
    for (const boundary of ['narrow', 'comprehensive'] as const) {
      expect(reasonFor({ ...waiting, boundary, requestedTier: 'telemetry' })).toBe('telemetry_pending');
    }
    expect(reasonFor({ ...waiting, requestedTier: 'telemetry', usage: null })).toBe('usage_missing');
    const refused = { source: 'gpu_counters', refused: 'counter_reset', raw: null } as const;
    expect(reasonFor({ ...waiting, requestedTier: 'telemetry', telemetry: refused })).toBe('tier_unavailable');
  });

  it('say which hardware they assume, and which the deployment has where that is another', () => {
    const reasonOn = (model: string, facts: CallFacts = call) =>
      impact({ ...facts, site: { ...facts.site, accelerators: { model, count: 8 } } }).tier_reason;
    for (const other of ['MI300X', 'H100 PCIe', 'H100-NVL', 'H1000', 'GB200', 'not an H100', 'H100 or A100']) {
      const unlike = `accelerators like H100 or B200, while the deployment states 8 × ${other}`;
      expect(reasonOn(other)).toContain(unlike);
      expect(reasonOn(other, { ...call, model: classOnly })).toContain(unlike);
      expect(reasonOn(other, { ...call, model: embedding })).toContain(`while the deployment states 8 × ${other}`);
    }
    for (const same of ['H100', 'H100-SXM5-80GB', 'NVIDIA H100 80GB HBM3', 'B200', 'NVIDIA-B200-180GB-HBM3e']) {
      expect(reasonOn(same)).not.toContain('accelerators');
    }
    expect(impact({ ...call, site: { ...call.site, accelerators: null } })).toEqual(impact(call));
  });

  it('are listed for a route before any call', () => {
    expect(availableTiers(dense70b)).toEqual(['proxy', 'parametric']);
    expect(availableTiers(classOnly)).toEqual(['proxy']);
    expect(availableTiers({ ...dense70b, totalParametersB: null, modelClass: null })).toEqual([]);
    expect(availableTiers({ ...embedding, totalParametersB: null, modelClass: null })).toEqual(['parametric']);
  });

  it('the reason states what is assumed, which is what nobody stated', () => {
    expect(impact(call).tier_reason).toContain(
      'parameter counts known; assumes 8-bit weights, 64 requests at once, accelerators like H100 or B200',
    );
    const accelerators = { model: 'H100', count: 8 };
    const stated = impact({
      ...call,
      model: { ...gpt, quantizationBits: 8 },
      site: { ...call.site, accelerators, typicalConcurrency: 100 },
    });
    expect(stated.tier_reason).toBe('auto: no measured energy, parameter counts known');
    const theirs = impact({ ...call, upstreamLatencyS: 9, model: { ...gpt, tokensPerS: 74 } }, 'ecologits-0.11.3');
    expect(theirs.tier_reason).toContain('from measured tokens per second, at most the upstream time');
    expect(theirs.tier_reason).toContain('16-bit weights; extrapolated beyond 200 billion parameters');
  });
});

describe('several prompts and answers', () => {
  it('take what as many calls take', () => {
    const one = { promptTokens: 1000, cachedPromptTokens: 0, completionTokens: 4000 };
    const eight = { promptTokens: 8000, cachedPromptTokens: 0, completionTokens: 32_000, prompts: 8, answers: 8 };
    const [single, all] = [impact({ ...call, usage: one }), impact({ ...call, usage: eight })];
    for (const field of ['energy_wh', 'energy_low_wh', 'energy_high_wh', 'carbon_g'] as const)
      expect(all[field] / single[field], field).toBeCloseTo(8, 9);
  });

  it('are none below one', () => {
    const usage = { promptTokens: 10, cachedPromptTokens: 0, completionTokens: 10 };
    for (const wrong of [{ prompts: 0 }, { answers: 0.5 }, { prompts: Number.NaN }])
      expect(reasonFor({ ...call, usage: { ...usage, ...wrong } })).toBe('calculator_fault');
  });
});

describe('requests at once', () => {
  const at = (typicalConcurrency: number | null) => impact({ ...call, site: { ...call.site, typicalConcurrency } });

  it('that are stated make the bounds closer, and a token cheaper the more there are', () => {
    const [assumed, stated] = [at(null), at(64)];
    expect(stated.energy_wh).toBe(assumed.energy_wh);
    expect(stated.energy_low_wh).toBeGreaterThan(assumed.energy_low_wh);
    expect(stated.energy_high_wh).toBeLessThan(assumed.energy_high_wh);
    for (const [few, many] of [
      [1, 8],
      [8, 64],
      [64, 512],
    ] as const)
      expect(at(many).energy_wh).toBeLessThan(at(few).energy_wh);
  });
});

describe('what cannot be assessed is a value with its reason', () => {
  it.each<[string, CallFacts, NotAssessed]>([
    ['no usage', { ...call, usage: null }, 'usage_missing'],
    ['an unknown model', { ...call, model: unknownModel }, 'model_parameters_unknown'],
    ['an unknown embedding', { ...call, model: { ...unknownModel, kind: 'embedding' } }, 'no_embedding_factor'],
    ['no grid', { ...call, grid: null }, 'grid_intensity_missing'],
    ['only a marginal signal', { ...call, grid: { ...hourly, signal: 'marginal' } }, 'grid_intensity_missing'],
    ['an unreadable time', { ...call, requestedAt: 'now' }, 'calculator_fault'],
    ['a PUE below 1', { ...call, site: { pue: 0.9, wueOnsiteLPerKwh: 0 } }, 'calculator_fault'],
    ['a PUE that is not a number', { ...call, site: { pue: Number.NaN, wueOnsiteLPerKwh: 0 } }, 'calculator_fault'],
    ['an infinite intensity', { ...call, grid: { ...hourly, gPerKwh: Infinity } }, 'calculator_fault'],
    [
      'an overflow',
      { ...call, grid: { ...hourly, gPerKwh: 1e308 }, site: { pue: 1e10, wueOnsiteLPerKwh: 0 } },
      'calculator_fault',
    ],
    ['half a request at once', { ...call, site: { ...call.site, typicalConcurrency: 0.5 } }, 'calculator_fault'],
    ['no speed at all', { ...call, model: { ...dense70b, tokensPerS: 0 } }, 'calculator_fault'],
    [
      'negative tokens',
      { ...call, usage: { promptTokens: -1, cachedPromptTokens: 0, completionTokens: 1 } },
      'calculator_fault',
    ],
    [
      'half a token',
      { ...call, usage: { promptTokens: 1, cachedPromptTokens: 0, completionTokens: 0.5 } },
      'calculator_fault',
    ],
  ])('%s', (_name, facts, reason) => {
    const assessment = assess(facts);
    expect(assessment).toMatchObject({ ok: false, reason });
    expect(assessment.ok ? '' : assessment.explanation).not.toBe('');
  });
});

describe('boundaries', () => {
  it('narrow counts the accelerator alone and names what it leaves out', () => {
    const wide = impact(call);
    const narrow = impact({ ...call, boundary: 'narrow' });
    expect(narrow.energy_wh).toBeCloseTo(wide.energy_accelerator_wh ?? 0, 10);
    expect(narrow).toMatchObject({
      energy_accelerator_wh: narrow.energy_wh,
      energy_host_wh: null,
      energy_idle_wh: null,
      energy_overhead_wh: null,
      carbon_operation_g: narrow.carbon_g,
      carbon_embodied_g: null,
      sci_g_per_request: null,
      water_ml: null,
    });
    const parts = ['host_energy', 'idle_energy', 'overhead_energy', 'embodied_carbon', 'water'];
    expect(narrow.boundary_excludes).toEqual(expect.arrayContaining(parts));
    expect(wide.boundary_excludes).not.toEqual(expect.arrayContaining(['water']));
  });

  it.each([
    ['on site', { ...call, site: { pue: 1.2, wueOnsiteLPerKwh: null } }],
    ['of the grid', { ...call, grid: { ...hourly, waterLPerKwh: null } }],
  ])('water is null and named as left out where the factor %s is unknown', (_name, facts) => {
    expect(impact(facts).water_ml).toBeNull();
    expect(impact(facts).boundary_excludes).toContain('water');
  });
});

describe('input tokens', () => {
  const usage = { promptTokens: 5000, cachedPromptTokens: 0, completionTokens: 100 };

  it('cost in both boundaries; what a cache served is context alone', () => {
    for (const boundary of ['comprehensive', 'narrow'] as const) {
      const fresh = impact({ ...call, boundary, usage });
      const cached = impact({ ...call, boundary, usage: { ...usage, cachedPromptTokens: 5000 } });
      const none = impact({ ...call, boundary, usage: { ...usage, promptTokens: 0 } });
      expect(fresh.energy_wh).toBeGreaterThan(cached.energy_wh * 1.5);
      expect(cached.energy_wh).toBeGreaterThan(none.energy_wh);
      expect(cached.energy_wh).toBeLessThan(none.energy_wh * 2);
    }
  });

  it('make an embedding cost more than zero, in energy, carbon, embodied carbon and water', () => {
    const { energy_wh, carbon_operation_g, carbon_embodied_g, water_ml } = impact({
      ...call,
      model: embedding,
      usage: { promptTokens: 8, cachedPromptTokens: 0, completionTokens: 0 },
    });
    for (const value of [energy_wh, carbon_operation_g, carbon_embodied_g, water_ml]) expect(value).toBeGreaterThan(0);
  });

  it.each([
    [
      '0.069 Wh for 1,000 tokens of a dense model of 70 billion parameters, with the attention to them',
      dense70b,
      0.0693,
    ],
    ['0.0003 Wh for 1,000 tokens of an embedding of 0.3 billion', embedding, 0.000313],
  ] as const)('cost %s', (_, model, wh) => {
    const read = { promptTokens: 1000, cachedPromptTokens: 0, completionTokens: 0 };
    expect(impact({ ...call, boundary: 'narrow', model, usage: read }).energy_wh / wh).toBeCloseTo(1, 2);
  });

  it('do not depend on the parameters that only fill memory', () => {
    const model = { ...embedding, totalParametersB: { min: 1, max: 9 } };
    expect(assess({ ...call, model })).toEqual(assess({ ...call, model: embedding }));
  });
});

describe('the ecologits-0.11.3 methodology', () => {
  it('charges output only, without idle, and says so', () => {
    const theirs = impact(call, 'ecologits-0.11.3');
    expect(theirs.energy_idle_wh).toBeNull();
    expect(theirs.boundary_excludes).toEqual(expect.arrayContaining(['input_tokens', 'idle_energy']));
    expect(theirs).toMatchObject({ methodology: 'ecologits-0.11.3', methodology_version: '0.11.3' });
    const longer = { ...call, usage: { promptTokens: 9000, cachedPromptTokens: 0, completionTokens: 400 } };
    expect(impact(longer, 'ecologits-0.11.3').energy_wh).toBe(theirs.energy_wh);
  });

  it('takes the mean of the two ends of a parameter range, and the ends as bounds', () => {
    const facts: CallFacts = {
      ...call,
      model: { ...gpt, tokensPerS: 74, ttftS: 0.61 },
      site: { pue: 1.2, wueOnsiteLPerKwh: 0.569 },
      grid: { ...hourly, gPerKwh: 384.4, waterLPerKwh: 3.1321 },
    };
    const { carbon_g, carbon_high_g, carbon_low_g, energy_high_wh, energy_low_wh, energy_wh, uncertainty_basis } =
      impact(facts, 'ecologits-0.11.3');
    expect(uncertainty_basis).toBe('parameter_range');
    // The reference case range-440b-usa, in Wh and g.
    expect(energy_low_wh).toBeCloseTo(0.578873789957, 9);
    expect(energy_high_wh).toBeCloseTo(0.963706471396, 9);
    expect(energy_wh).toBeCloseTo((energy_low_wh + energy_high_wh) / 2, 9);
    expect(carbon_low_g).toBeCloseTo(0.238184203103, 9);
    expect(carbon_high_g).toBeCloseTo(0.386113885848, 9);
    expect(carbon_g).toBeCloseTo((carbon_low_g + carbon_high_g) / 2, 9);
  });

  it('has no factor for an embedding', () => {
    expect(reasonFor({ ...call, model: embedding }, 'ecologits-0.11.3')).toBe('no_embedding_factor');
  });
});

describe('an impact', () => {
  it('carries the provenance of a yearly fallback', () => {
    expect(impact({ ...call, grid: annualReading('SWE') })).toMatchObject({
      grid_zone: 'SWE',
      grid_intensity_source: 'ember-2025 (EcoLogits 0.11.3, year inferred)',
      grid_intensity_observed_at: '2026-01-01T00:00:00.000Z',
      grid_intensity_requested_at: call.requestedAt,
      grid_temporal_match: 'annual_fallback',
    });
  });

  it('is zero, not null, for no tokens', () => {
    const usage = { promptTokens: 0, cachedPromptTokens: 0, completionTokens: 0 };
    expect(impact({ ...call, usage, model: { ...dense70b, ttftS: 1 } })).toMatchObject({
      energy_wh: 0,
      energy_host_wh: 0,
      energy_high_wh: 0,
      carbon_g: 0,
      carbon_embodied_g: 0,
      water_ml: 0,
    });
    for (const requestedTier of ['proxy', 'parametric'] as const) {
      const narrow = impact({ ...call, usage, requestedTier, boundary: 'narrow' });
      expect(narrow).toMatchObject({
        tier: requestedTier,
        energy_wh: 0,
        energy_high_wh: 0,
        carbon_g: 0,
        water_ml: null,
      });
    }
  });

  it('takes no step where the model outgrows an accelerator', () => {
    const of = (size: number) =>
      impact({
        ...call,
        usage: { promptTokens: 0, cachedPromptTokens: 0, completionTokens: 400 },
        model: { ...dense70b, activeParametersB: { min: size, max: size }, totalParametersB: { min: size, max: size } },
      }).energy_wh;
    for (const size of [33, 66, 133, 266]) expect(of(size * 1.03) / of(size)).toBeLessThan(1.03);
  });

  it('by EcoLogits uses no more generation time than the upstream took', () => {
    const of = (upstreamLatencyS: number | null) => impact({ ...call, upstreamLatencyS }, 'ecologits-0.11.3');
    expect(of(1).energy_host_wh).toBeLessThan(of(null).energy_host_wh ?? 0);
    expect(of(1e6).energy_wh).toBe(of(null).energy_wh);
  });
});
