/**
 * False statements about a call, and what must follow from them: a refusal with its reason, the model in place of the
 * figure, or a figure that the receipt calls doubtful. Never a number that looks like any other.
 *
 * The steps before the methodology have their tests beside them: counts above what request, text, window and time allow,
 * missing and stale ones, those of a cache and of reasoning in `receipt-sidecar/receipt/count.test.ts`, each provider's
 * form of them in `receipt-sidecar/reply/transcripts.test.ts`, both through a whole gateway in
 * `test/sdk/claimed-usage.test.ts`; the shapes of energy in `telemetry/readers.test.ts` and `test/telemetry/shapes.test.ts`.
 */
import { describe, expect, it } from 'vitest';
import type { ParameterRange } from '../facts/facts.ts';
import type { TelemetryReading } from '../facts/telemetry/reading.ts';
import { lineageOf } from '../lineage/lineage.ts';
import { verify } from '../lineage/recompute.ts';
import { call, dense70b, hourly } from '../testdata/facts.ts';
import { shapes } from '../testdata/telemetry.ts';
import { assess, type CallFacts, type Impact, type NotAssessed } from './assess.ts';

const unknownModel = { ...dense70b, activeParametersB: null, totalParametersB: null, modelClass: null };
const usage = { promptTokens: 1200, cachedPromptTokens: 200, completionTokens: 400 };
const joules = (value: number) => shapes.neuralwatt?.(value / 3600) ?? null;
const reading = joules(1080) as TelemetryReading;
const counters = shapes.gpu_counters?.(0.2) ?? null;
const counts = (more: Partial<typeof usage>): Partial<CallFacts> => ({ usage: { ...usage, ...more } });
const onGrid = (more: Partial<typeof hourly>): Partial<CallFacts> => ({ grid: { ...hourly, ...more } });
const sized = (activeParametersB: ParameterRange, totalParametersB: ParameterRange): Partial<CallFacts> => ({
  model: { ...dense70b, activeParametersB, totalParametersB },
});

function impactOf(more: Partial<CallFacts>): Impact {
  const assessment = assess({ ...call, ...more });
  if (!assessment.ok) throw new Error(assessment.explanation);
  return assessment.impact;
}
const modelled = impactOf({});

const everyReceiptFollows = (more: Partial<CallFacts>): void => {
  // As a store gives them back: a number that JSON does not have is null.
  const stored: CallFacts = JSON.parse(JSON.stringify({ ...call, ...more }));
  const traced = lineageOf(stored);
  if (!traced.ok) throw new Error(traced.explanation);
  const receipt = { ...impactOf(stored), ...(more.simulated && { simulated: true }) };
  expect(verify(JSON.parse(JSON.stringify(traced.lineage)), receipt)).toMatchObject({ ok: true });
};

describe('no number follows from', () => {
  it.each<[string, Partial<CallFacts>, NotAssessed]>([
    ['no counts', { usage: null }, 'usage_missing'],
    [
      'no counts and the energy of accelerators, whose share they are',
      { usage: null, telemetry: counters },
      'usage_missing',
    ],
    ['a count below zero', counts({ completionTokens: -1 }), 'calculator_fault'],
    ['a part of a token', counts({ promptTokens: 0.5 }), 'calculator_fault'],
    ['a count that is no number', counts({ promptTokens: Number.NaN }), 'calculator_fault'],
    ['a count without end', counts({ completionTokens: Number.POSITIVE_INFINITY }), 'calculator_fault'],
    ['a count that a double cannot tell from its neighbour', counts({ promptTokens: 2 ** 53 }), 'calculator_fault'],
    ['a cached count below zero', counts({ cachedPromptTokens: -1 }), 'calculator_fault'],
    ['estimates of nobody knows what', { usage: { ...usage, estimated: 'all' as 'both' } }, 'calculator_fault'],
    ['no grid', { grid: null }, 'grid_intensity_missing'],
    ['a marginal intensity', onGrid({ signal: 'marginal' }), 'grid_intensity_missing'],
    ['an intensity below zero', onGrid({ gPerKwh: -1 }), 'calculator_fault'],
    ['an intensity that is no number', onGrid({ gPerKwh: Number.NaN }), 'calculator_fault'],
    ['a time that cannot be read', onGrid({ periodStart: 'yesterday' }), 'calculator_fault'],
    ['a PUE below 1', { site: { ...call.site, pue: 0.9 } }, 'calculator_fault'],
    ['a model of no parameters', { model: { ...dense70b, activeParametersB: { min: 0, max: 0 } } }, 'calculator_fault'],
    ['a range on its head', sized({ min: 100, max: 10 }, { min: 100, max: 100 }), 'calculator_fault'],
    ['more active parameters than all', sized({ min: 80, max: 80 }, { min: 70, max: 70 }), 'calculator_fault'],
    ['a range of active ones beyond all', sized({ min: 10, max: 80 }, { min: 70, max: 70 }), 'calculator_fault'],
    ['weights of a tenth of a bit', { model: { ...dense70b, quantizationBits: 0.1 } }, 'calculator_fault'],
    ['a model that is not known', { model: unknownModel }, 'model_parameters_unknown'],
    [
      'a model that is not known, and 1e-9 J',
      { model: unknownModel, telemetry: joules(1e-9) },
      'model_parameters_unknown',
    ],
    [
      'a model that is not known, and 1e308 J',
      { model: unknownModel, telemetry: joules(1e308) },
      'model_parameters_unknown',
    ],
    [
      'amounts beyond a double',
      { site: { ...call.site, pue: 1e308 }, ...counts({ completionTokens: 1e15 }) },
      'calculator_fault',
    ],
  ])('%s', (_, more, reason) => {
    expect(assess({ ...call, ...more })).toMatchObject({ ok: false, reason });
  });
});

describe('the model stands in the place of', () => {
  it.each<[string, CallFacts['telemetry'], string]>([
    ['an energy of zero', joules(0), 'it is zero for a call with tokens'],
    ['an energy below zero', { ...reading, energyWh: -0.3, stated: null }, 'it is negative'],
    ['an energy that is no number', { ...reading, energyWh: Number.NaN, stated: null }, 'it is not finite'],
    ['an energy of 1e308 J', joules(1e308), 'it is more than 100 times the modelled energy'],
    ['101 times the modelled energy', joules(modelled.energy_wh * 3600 * 101), 'it is more than 100 times'],
    ['a 101st of the modelled energy', joules((modelled.energy_wh * 3600) / 101), 'it is less than 1/100'],
    ['a figure that is not what was stated', { ...reading, energyWh: 0.31 }, 'contradict'],
    ['a figure of an unknown unit', { source: 'greenpt', refused: 'unknown_unit', raw: {} }, 'unit is not known'],
    ["a provider's own estimate", shapes.ecologits_impacts?.(0.3) ?? null, 'not a measurement'],
  ])('%s', (_, telemetry, why) => {
    const impact = impactOf({ telemetry: telemetry ?? null });
    expect({ ...impact, tier_reason: '' }).toEqual({ ...modelled, tier_reason: '' });
    expect(impact.tier_reason).toContain(why);
    expect(assess({ ...call, requestedTier: 'telemetry', telemetry: telemetry ?? null })).toMatchObject({ ok: false });
    everyReceiptFollows({ telemetry: telemetry ?? null });
  });
});

describe('a number follows, and the receipt says what is wrong with', () => {
  it.each<[string, Partial<CallFacts>, Partial<Impact>, string]>([
    [
      'energy 51 times below the modelled',
      { telemetry: joules((modelled.energy_wh * 3600) / 51) },
      { tier: 'telemetry', modelled_energy_wh: expect.closeTo(modelled.energy_wh, 10) },
      'further from it than 5 times, so one of them is doubtful',
    ],
    [
      'energy 58 times above the modelled',
      { telemetry: joules(modelled.energy_wh * 3600 * 58) },
      { tier: 'telemetry', modelled_energy_wh: expect.closeTo(modelled.energy_wh, 10) },
      'further from it than 5 times, so one of them is doubtful',
    ],
    [
      'energy without counts',
      { usage: null, telemetry: reading },
      { tier: 'telemetry', prompt_tokens: null, completion_tokens: null, carbon_embodied_g: null },
      'no token counts',
    ],
    [
      'energy of a model that is not known',
      { model: unknownModel, telemetry: reading },
      { tier: 'telemetry', carbon_embodied_g: null },
      'as a model between the',
    ],
    [
      'estimated counts',
      { usage: { ...usage, estimated: 'both' } },
      { tier: 'parametric' },
      'are estimated from the text',
    ],
    [
      'tokens outside of the two counts',
      { usage: { ...usage, outsideCounts: 500 } },
      { tier: 'parametric' },
      '500 tokens that the provider states outside of its two counts are charged',
    ],
    [
      'a total less than its counts',
      { usage: { ...usage, outsideCounts: -30 } },
      { tier: 'parametric' },
      "the provider's total is 30 less than its two counts",
    ],
    ['a reply that broke off', { isCutShort: true }, { tier: 'parametric' }, 'all amounts are lower bounds'],
    [
      'what a simulator says',
      { telemetry: reading, simulated: true },
      { tier: 'telemetry' },
      'a simulator made up, not measured',
    ],
  ])('%s', (_, more, fields, words) => {
    expect(impactOf(more)).toMatchObject(fields);
    expect(impactOf(more).tier_reason).toContain(words);
    everyReceiptFollows(more);
  });

  it('an estimate of the grid that no word of the match betrays: nobody measured it', () => {
    const estimate = onGrid({ isEstimated: true });
    expect(impactOf(estimate)).toMatchObject({ grid_temporal_match: 'forecast', grid_intensity_age_minutes: 0 });
    everyReceiptFollows(estimate);
  });

  it('more cached tokens than there were: none is read, and none less than none', () => {
    const cached = (cachedPromptTokens: number) => impactOf(counts({ cachedPromptTokens })).energy_wh;
    expect(cached(9000)).toBe(cached(1200));
  });

  it('a reading of the future: it has no age, and is a forecast', () => {
    const later = { periodStart: '2026-11-21T11:00:00.000Z', periodEnd: '2026-11-21T12:00:00.000Z' };
    const impact = impactOf(onGrid({ ...later, observedAt: later.periodStart }));
    expect(impact).toMatchObject({ grid_temporal_match: 'forecast', grid_intensity_age_minutes: null });
  });
});
