/**
 * The inputs of a calculation that are facts of the call: name, unit, origin and value.
 *
 * Invariant: a value is what the code calculates with, so an unknown one is null and not its default.
 */

import type { Calculation } from './calculation.ts';
import type { CallFacts, ParameterRange } from './facts.ts';
import { type GridTimes, isEstimate, isWorld, matchUnit, temporalMatches } from './grid.ts';
import { totalOf } from './parametric.ts';
import { isAssumedPue, isGuessed, isOtherHardware } from './uncertainty.ts';

/** Whose a fact is, as the inputs name it; `sources` of the lineage says more of each. */
export const factSources = {
  usage: 'usage of the call',
  timing: 'timing of the call',
  model: 'model catalogue',
  site: 'deployment catalogue',
  grid: 'grid reading',
  telemetry: 'measured energy of the call',
} as const;

export interface Given {
  readonly unit: string;
  readonly source: string;
  /** Where in the lineage's `facts` it stands; null: it follows from several, or is no fact. */
  readonly fact: string | null;
}

const { grid, model, site, telemetry, timing, usage } = factSources;
const since1970 = 'ms since 1970-01-01T00:00:00Z';
const outside = 'outside this methodology';
const parameters = 'billion parameters';
const given = (unit: string, source: string, fact: string | null): Given => ({ unit, source, fact });

const givens: Readonly<Record<string, Given>> = {
  T_in: given('token', usage, 'usage.promptTokens'),
  T_cached: given('token', usage, 'usage.cachedPromptTokens'),
  T_out: given('token', usage, 'usage.completionTokens'),
  P_active: given(parameters, model, 'model.activeParametersB'),
  P_total: given(parameters, model, null),
  bits: given('bit', model, 'model.quantizationBits'),
  TPS: given('token/s', model, 'model.tokensPerS'),
  TTFT: given('s', model, 'model.ttftS'),
  upstream_time: given('s', timing, 'upstreamLatencyS'),
  PUE: given('1', site, 'site.pue'),
  WUE_site: given('L/kWh', site, 'site.wueOnsiteLPerKwh'),
  requested_at: given(since1970, timing, 'requestedAt'),
  observed_at: given(since1970, grid, null),
  period_start: given(since1970, grid, 'grid.periodStart'),
  period_end: given(since1970, grid, 'grid.periodEnd'),
  is_forecast: given('1', grid, null),
  is_annual: given('1', grid, null),
  is_estimated: given('1', grid, null),
  stated_match: given(matchUnit, grid, null),
  is_other_hardware: given('1', site, null),
  is_assumed_pue: given('1', site, null),
  is_guessed: given('1', model, null),
  is_lifecycle: given('1', grid, null),
  is_world: given('1', grid, null),
  charged_input_tokens: given('token', outside, null),
  prefill_time: given('GPU·s', outside, null),
  prefill_gpu_energy: given('Wh', outside, null),
  prefill_server_energy: given('Wh', outside, null),
  reported_energy: given('Wh', telemetry, 'telemetry.energyWh'),
  stated_energy: given('Wh', telemetry, 'telemetry.stated.value'),
  stated_min: given('Wh', telemetry, 'telemetry.stated.range.min'),
  stated_max: given('Wh', telemetry, 'telemetry.stated.range.max'),
  call_tokens: given('token', telemetry, 'telemetry.stated.tokens.call'),
  all_tokens: given('token', telemetry, 'telemetry.stated.tokens.all'),
};

/** What an input is, whatever the run; null for a name that is none. Of a stated figure the unit is the stated one. */
export const inputOf = (name: string): Given | null => givens[name] ?? null;

const stated = new Set(['stated_energy', 'stated_min', 'stated_max']);

/** The name without the run that it is for. */
export const baseName = (name: string): string => name.split('@')[0] ?? name;

/** A name can have a run of its own, else it is of that of its step. */
const runOf = (name: string, run: string | null): string | null => name.split('@')[1] ?? run;

/** An input of the run `min` takes the lower end of a range, any other the upper one. */
export function givenOf(name: string, run: string | null, { measured, model_kind }: Calculation): Given {
  const base = baseName(name);
  const found = givens[base] ?? given('1', 'unknown', null);
  if (stated.has(base)) return { ...found, unit: measured?.unit ?? 'Wh' };
  if (base === 'T_out' && model_kind === 'embedding') return { ...found, fact: null };
  return base === 'P_active'
    ? { ...found, fact: `${found.fact}.${runOf(name, run) === 'min' ? 'min' : 'max'}` }
    : found;
}

/** The value of an input in a run (`min` and `max` are the ends of the parameter range). */
export function inputValues(facts: CallFacts, times: GridTimes): (name: string, run: string | null) => number | null {
  const { grid: reading, model: size, site: place, usage: tokens } = facts;
  const measured = facts.telemetry && 'energyWh' in facts.telemetry ? facts.telemetry : null;
  const isEmbedding = size.kind === 'embedding';
  const total = totalOf(size);
  const end = (range: ParameterRange | null, run: string | null): number | null =>
    range === null ? null : run === 'min' ? range.min : range.max;
  const values: Readonly<Record<string, number | null | undefined>> = {
    T_in: tokens?.promptTokens,
    T_cached: tokens?.cachedPromptTokens,
    T_out: isEmbedding ? 0 : tokens?.completionTokens,
    bits: size.quantizationBits,
    TPS: size.tokensPerS,
    TTFT: size.ttftS,
    upstream_time: facts.upstreamLatencyS,
    PUE: place.pue,
    WUE_site: place.wueOnsiteLPerKwh,
    grid_intensity: reading?.gPerKwh,
    WUE_grid: reading?.waterLPerKwh,
    requested_at: times.requested,
    observed_at: times.observed,
    period_start: times.start,
    period_end: times.end,
    is_forecast: times.isForecast ? 1 : 0,
    is_annual: reading?.signal === 'annual' ? 1 : 0,
    is_estimated: reading && isEstimate(reading) ? 1 : 0,
    stated_match: reading?.temporalMatch ? temporalMatches.indexOf(reading.temporalMatch) : null,
    is_assumed_pue: isAssumedPue(place) ? 1 : 0,
    is_guessed: isGuessed(size) ? 1 : 0,
    is_lifecycle: reading?.basis === 'lifecycle' ? 1 : 0,
    is_world: reading && isWorld(reading) ? 1 : 0,
    is_other_hardware: isOtherHardware(place.accelerators) ? 1 : 0,
    charged_input_tokens: 0,
    prefill_time: 0,
    prefill_gpu_energy: 0,
    prefill_server_energy: 0,
    reported_energy: measured?.energyWh,
    stated_energy: measured?.stated?.value,
    stated_min: measured?.stated?.range?.min,
    stated_max: measured?.stated?.range?.max,
    call_tokens: measured?.stated?.tokens?.call,
    all_tokens: measured?.stated?.tokens?.all,
  };
  return (name, run) => {
    const base = baseName(name);
    if (base === 'P_active') return end(size.activeParametersB, runOf(name, run));
    if (base === 'P_total') return end(total, runOf(name, run));
    return values[base] ?? null;
  };
}
