import { describe, expect, it } from 'vitest';
import type { MethodologyId } from '../documents/methodologies.ts';
import { type CountDoubt, countDoubts, type EstimatedCounts } from '../facts/facts.ts';
import { readNeuralwatt } from '../facts/telemetry/neuralwatt.ts';
import { lineageOf } from '../lineage/lineage.ts';
import { verify } from '../lineage/recompute.ts';
import { call } from '../testdata/facts.ts';
import { assess, type CallFacts } from './assess.ts';

const usage = { promptTokens: 1200, cachedPromptTokens: 200, completionTokens: 400 };

function impactOf(facts: CallFacts, methodology?: MethodologyId) {
  const assessment = assess(facts, methodology);
  if (!assessment.ok) throw new Error(assessment.explanation);
  const traced = lineageOf(facts, methodology);
  if (!traced.ok) throw new Error(traced.explanation);
  const lineage = JSON.parse(JSON.stringify(traced.lineage));
  expect(verify(lineage, { ...assessment.impact })).toMatchObject({ ok: true });
  return { impact: assessment.impact, lineage: traced.lineage };
}

describe('an estimated token count', () => {
  const counted = impactOf({ ...call, usage }).impact;
  const of = (estimated: EstimatedCounts) => impactOf({ ...call, usage: { ...usage, estimated } }).impact;

  it.each(['prompt', 'completion', 'both'] as const)('(%s) widens the bounds and leaves the value', (estimated) => {
    const impact = of(estimated);
    expect(impact.energy_wh).toBe(counted.energy_wh);
    expect(impact.energy_low_wh).toBeLessThan(counted.energy_low_wh);
    expect(impact.energy_high_wh).toBeGreaterThan(counted.energy_high_wh);
    expect(impact.carbon_low_g).toBeLessThan(counted.carbon_low_g);
    expect(impact.carbon_high_g).toBeGreaterThan(counted.carbon_high_g);
    expect(impact.tier_reason).toContain('estimated from');
    expect(impact.tier_reason).toContain('within a ratio of 2.5 either way');
  });

  it('is told in the lineage, whose kind of calculation says which', () => {
    const { lineage } = impactOf({ ...call, usage: { ...usage, estimated: 'completion' } });
    expect(lineage.calculation.estimated_counts).toBe('completion');
    const steps = new Map(lineage.steps.map((step) => [step.id, step.output.value]));
    expect([steps.get('completion_ratio'), steps.get('prompt_ratio')]).toEqual([2.5, 1]);
    const claimed = { ...lineage, calculation: { ...lineage.calculation, estimated_counts: 'all' as EstimatedCounts } };
    expect(verify(claimed, {})).toMatchObject({ ok: false });
    expect(impactOf({ ...call, usage }).lineage.calculation).not.toHaveProperty('estimated_counts');
  });

  it('means nothing to a methodology that did not know of it', () => {
    const estimated = { ...call, usage: { ...usage, estimated: 'both' as const } };
    expect(assess(estimated, 'ecologits-0.11.3')).toEqual(assess({ ...call, usage }, 'ecologits-0.11.3'));
  });

  it('and tokens outside of the two counts are told in words', () => {
    const over = impactOf({ ...call, usage: { ...usage, outsideCounts: 500 } }).impact;
    expect(over.tier_reason).toContain('500 tokens that the provider states outside of its two counts');
    const under = impactOf({ ...call, usage: { ...usage, outsideCounts: -30 } }).impact;
    expect(under.tier_reason).toContain("the provider's total is 30 less than its two counts");
  });
});

describe('a count that can stand for fewer tokens, or for more', () => {
  const ends = { promptLeast: 480, promptMost: 50_000, completionLeast: 30, completionMost: 8000 };
  const range = { activeParametersB: { min: 20, max: 90 }, totalParametersB: { min: 200, max: 600 } };
  const untimed: CallFacts = { ...call, upstreamLatencyS: null };
  const uncached = { ...usage, cachedPromptTokens: 0 };

  it.each([
    ['known parameters', untimed],
    ['a range of parameters', { ...untimed, model: { ...call.model, ...range } }],
    ['a size class', { ...untimed, requestedTier: 'proxy' }],
    ['the narrow boundary', { ...untimed, boundary: 'narrow' }],
  ] as const)('has the bounds of those, and the value of the count, by %s', (_, facts) => {
    const counted = impactOf({ ...facts, usage: uncached }).impact;
    const { impact } = impactOf({ ...facts, usage: { ...uncached, ...ends } });
    const fewest = { ...uncached, promptTokens: ends.promptLeast, completionTokens: ends.completionLeast };
    const most = { ...uncached, promptTokens: ends.promptMost, completionTokens: ends.completionMost };
    const [least, highest] = [fewest, most].map((each) => impactOf({ ...facts, usage: each }).impact);
    expect(impact.energy_wh).toBe(counted.energy_wh);
    expect(impact.carbon_g).toBe(counted.carbon_g);
    const about = (value: number | null | undefined) => expect.closeTo(value ?? Number.NaN, 9);
    expect(impact.energy_low_wh).toEqual(about(least?.energy_low_wh));
    expect(impact.energy_high_wh).toEqual(about(highest?.energy_high_wh));
    expect(impact.carbon_low_g).toEqual(about(least?.carbon_low_g));
    expect(impact.carbon_high_g).toEqual(about(highest?.carbon_high_g));
    expect(impact.tier_reason).toContain('480 to 50000 prompt tokens and 30 to 8000 completion tokens');
  });

  it('says why in words', () => {
    const doubted = (...doubts: CountDoubt[]) => impactOf({ ...call, usage: { ...usage, ...ends, doubts } }).impact;
    for (const doubt of countDoubts) {
      const { tier_reason } = doubted(doubt);
      expect(tier_reason.includes('doubtful')).toBe(/unstated|too_fast/.test(doubt));
      expect(tier_reason.length).toBeGreaterThan(doubted().tier_reason.length);
    }
  });

  it('has no prompt tokens where parts of the prompt were not counted', () => {
    const { impact } = impactOf({ ...call, usage: { ...usage, promptMost: 9000, doubts: ['parts_uncounted'] } });
    expect(impact).toMatchObject({ prompt_tokens: null, completion_tokens: 400 });
    expect(impact.boundary_excludes).toContain('uncounted_input');
  });

  it('names tools that the provider may have run among what is not counted', () => {
    const of = (doubts: CountDoubt[]) => impactOf({ ...call, usage: { ...usage, doubts } }).impact.boundary_excludes;
    expect(of(['ran_tools'])).toContain('hosted_tools');
    expect(of(['encodes_media'])).toContain('media_encoding');
    expect(of(['ran_tools'])).not.toContain('media_encoding');
    expect(of(['hidden'])).not.toContain('hosted_tools');
  });

  it('is refused where its ends are none', () => {
    for (const wrong of [
      { promptLeast: 1201 },
      { completionMost: 399 },
      { completionLeast: -1 },
      { promptMost: 1e300 },
    ])
      expect(assess({ ...call, usage: { ...usage, ...wrong } })).toMatchObject({ reason: 'calculator_fault' });
    const stranger = { ...usage, doubts: ['a hunch' as CountDoubt] };
    expect(assess({ ...call, usage: stranger })).toMatchObject({ reason: 'calculator_fault' });
  });
});

describe('attempts that failed', () => {
  const of = (failedAttemptsMostWh?: number | null) =>
    impactOf({ ...call, usage, ...(failedAttemptsMostWh !== undefined && { failedAttemptsMostWh }) }).impact;

  it('took nothing unless the facts say more, which is in no sum', () => {
    expect(of()).toMatchObject({ energy_failed_attempts_wh: 0, energy_failed_attempts_high_wh: 0 });
    expect(of(1.5)).toMatchObject({ energy_failed_attempts_wh: null, energy_failed_attempts_high_wh: 1.5 });
    expect(of(null)).toMatchObject({ energy_failed_attempts_wh: null, energy_failed_attempts_high_wh: null });
    expect(of(1.5).energy_high_wh).toBe(of().energy_high_wh);
    expect(assess({ ...call, usage, failedAttemptsMostWh: -1 })).toMatchObject({ reason: 'calculator_fault' });
  });
});

describe('a reply that broke off', () => {
  const joules = readNeuralwatt({ energy: { energy_joules: 720 } });
  const kinds: readonly [string, Partial<CallFacts>][] = [
    ['parametric', {}],
    ['proxy', { requestedTier: 'proxy' }],
    ['narrow', { boundary: 'narrow' }],
    ['measured', { telemetry: joules, upstreamLatencyS: 2 }],
    ['measured without counts', { telemetry: joules, upstreamLatencyS: 2, usage: null }],
  ];

  it.each(kinds)('has the same numbers, which the receipt and its lineage call lower bounds: %s', (_, more) => {
    const whole = impactOf({ ...call, usage, ...more });
    const { impact, lineage } = impactOf({ ...call, usage, ...more, isCutShort: true });
    expect(impact).toEqual({
      ...whole.impact,
      boundary_excludes: expect.arrayContaining([...whole.impact.boundary_excludes, 'undelivered_output']),
      tier_reason: expect.stringContaining('all amounts are lower bounds'),
    });
    expect(whole.impact.boundary_excludes).not.toContain('undelivered_output');
    expect(lineage.calculation.cut_short).toBe(true);
    expect(whole.lineage.calculation).not.toHaveProperty('cut_short');
    const denied = { ...lineage, boundary_excludes: whole.lineage.boundary_excludes };
    expect(verify(denied, {})).toMatchObject({ ok: false });
  });
});

describe('measured energy of a call whose tokens nobody counted', () => {
  const measured = (joules: number, more: Partial<CallFacts> = {}): CallFacts => ({
    ...call,
    usage: null,
    upstreamLatencyS: 2,
    telemetry: readNeuralwatt({ energy: { energy_joules: joules } }),
    ...more,
  });

  it('is still an energy', () => {
    const { impact, lineage } = impactOf(measured(720));
    expect(impact).toMatchObject({
      tier: 'telemetry',
      energy_wh: 0.2,
      carbon_g: 0.06593,
      carbon_embodied_g: null,
      sci_g_per_request: null,
      prompt_tokens: null,
      completion_tokens: null,
    });
    expect(impact.tier_reason).toContain('no token counts');
    expect(lineage.calculation.modelled_by).toBeNull();
  });

  it('is bounded by what a rack draws in the time', () => {
    expect(assess(measured(120_000 * 2)).ok).toBe(true);
    expect(assess(measured(120_000 * 2 + 1))).toMatchObject({ ok: false, reason: 'usage_missing' });
    expect(assess(measured(120_000 * 2 + 1, { requestedTier: 'telemetry' }))).toMatchObject({
      ok: false,
      reason: 'tier_unavailable',
      explanation: expect.stringContaining('120000 W'),
    });
  });

  it('is bounded by an hour of that where the time is not known', () => {
    const untimed = { upstreamLatencyS: null };
    expect(assess(measured(120_000 * 3600, untimed)).ok).toBe(true);
    expect(assess(measured(120_000 * 3600 + 1, { ...untimed, requestedTier: 'telemetry' }))).toMatchObject({
      ok: false,
      explanation: expect.stringContaining('120000 W take in an hour'),
    });
    expect(impactOf(measured(720, untimed)).impact.tier_reason).toContain(
      'in an hour and with a token of the smallest',
    );
  });

  it.each([
    ['chat', 0.0001],
    ['embedding', 4e-7],
  ] as const)('of the kind %s is no less than a hundredth of a token of its smallest model', (kind, least) => {
    const ofKind = { model: { ...call.model, kind } };
    const asked = { ...ofKind, requestedTier: 'telemetry' } as const;
    expect(assess(measured(least, ofKind)).ok).toBe(true);
    expect(assess(measured(least / 3, asked))).toMatchObject({
      ok: false,
      explanation: expect.stringContaining('less than 1/100 of what a token of the smallest model takes'),
    });
  });

  it('serves neither a zero, nor the narrow boundary, nor a modelled tier', () => {
    expect(assess(measured(0))).toMatchObject({ ok: false, reason: 'usage_missing' });
    expect(assess(measured(720, { boundary: 'narrow' }))).toMatchObject({ ok: false, reason: 'usage_missing' });
    expect(assess(measured(720, { requestedTier: 'parametric' }))).toMatchObject({
      ok: false,
      reason: 'usage_missing',
    });
    expect(assess(measured(720, { grid: null }))).toMatchObject({ ok: false, reason: 'usage_missing' });
  });
});
