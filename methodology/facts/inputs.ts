/**
 * The named inputs of a calculation: the facts of a call under the names that formulas use.
 *
 * Invariant: an input that the source left unknown is null and not its default. NaN stands for a fact that the call does not have
 * at all; no formula of its calculation reads it.
 */
import { isAssumedPue, isGuessed, isOtherHardware } from './assumptions.ts';
import type { CallFacts, GridReading, ModelFacts, ParameterRange } from './facts.ts';
import { type GridTimes, isEstimate, isWorld, matchUnit, temporalMatches } from './grid.ts';

/** Who states a fact, as the inputs name it; `sources` of the lineage says more of each. */
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
const parameters = 'billion parameters';
const given = (unit: string, source: string, fact: string | null): Given => ({ unit, source, fact });

const givens: Readonly<Record<string, Given>> = {
  T_in: given('token', usage, 'usage.promptTokens'),
  T_cached: given('token', usage, 'usage.cachedPromptTokens'),
  T_out: given('token', usage, 'usage.completionTokens'),
  T_in_least: given('token', usage, 'usage.promptLeast'),
  T_in_most: given('token', usage, 'usage.promptMost'),
  T_out_least: given('token', usage, 'usage.completionLeast'),
  T_out_most: given('token', usage, 'usage.completionMost'),
  prompts: given('1', usage, 'usage.prompts'),
  answers: given('1', usage, 'usage.answers'),
  P_active: given(parameters, model, 'model.activeParametersB'),
  P_total: given(parameters, model, null),
  bits: given('bit', model, 'model.quantizationBits'),
  TPS: given('token/s', model, 'model.tokensPerS'),
  TTFT: given('s', model, 'model.ttftS'),
  upstream_time: given('s', timing, 'upstreamLatencyS'),
  typical_concurrency: given('1', site, 'site.typicalConcurrency'),
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
  reported_energy: given('Wh', telemetry, 'telemetry.energyWh'),
  stated_energy: given('Wh', telemetry, 'telemetry.stated.value'),
  call_tokens: given('token', telemetry, 'telemetry.stated.tokens.call'),
  all_tokens: given('token', telemetry, 'telemetry.stated.tokens.all'),
};

/** Null for a name that is no input. The unit of a stated figure is the one that its source gave. */
export const inputOf = (name: string): Given | null => givens[name] ?? null;

/** The inputs that say how old a grid value is, and how well it fits. */
export interface GridInputs {
  readonly requested_at: number;
  readonly observed_at: number;
  readonly period_start: number;
  readonly period_end: number;
  readonly is_forecast: number;
  readonly is_annual: number;
  readonly is_estimated: number;
  readonly stated_match: number | null;
}

/** `P_active_min` and `P_active_max` are the two ends of `P_active`, which are the same where the count is known. */
export interface Inputs extends GridInputs {
  readonly T_in: number;
  readonly T_cached: number;
  readonly T_out: number;
  readonly T_in_least: number | null;
  readonly T_in_most: number | null;
  readonly T_out_least: number | null;
  readonly T_out_most: number | null;
  readonly prompts: number | null;
  readonly answers: number | null;
  readonly P_active_min: number;
  readonly P_active_max: number;
  readonly P_total_min: number;
  readonly P_total_max: number;
  readonly bits: number | null;
  readonly TPS: number | null;
  readonly TTFT: number | null;
  readonly upstream_time: number | null;
  readonly typical_concurrency: number | null;
  readonly PUE: number;
  readonly WUE_site: number | null;
  readonly grid_intensity: number;
  readonly WUE_grid: number | null;
  readonly is_lifecycle: number;
  readonly is_world: number;
  readonly is_other_hardware: number;
  readonly is_assumed_pue: number;
  readonly is_guessed: number;
  readonly reported_energy: number;
  readonly stated_energy: number;
  readonly call_tokens: number;
  readonly all_tokens: number;
}

/** The inputs that can be unknown; an operation on one that is has no value. */
export const nullableInputs: ReadonlySet<string> = new Set<keyof Inputs>([
  'bits',
  'TPS',
  'TTFT',
  'upstream_time',
  'typical_concurrency',
  'WUE_site',
  'WUE_grid',
  'stated_match',
  'T_in_least',
  'T_in_most',
  'T_out_least',
  'T_out_most',
  'prompts',
  'answers',
]);

const flag = (is: boolean): number => (is ? 1 : 0);

/** Whether the parametric tier can serve the model. An embedding writes nothing, so only what works on a token matters. */
export const hasParameters = ({ activeParametersB, kind, totalParametersB }: ModelFacts): boolean =>
  activeParametersB !== null && (kind === 'embedding' || totalParametersB !== null);

/** All parameters; an embedding's estimate depends on its active ones alone. */
export const totalOf = ({ activeParametersB, kind, totalParametersB }: ModelFacts): ParameterRange | null =>
  kind === 'embedding' ? activeParametersB : (totalParametersB ?? activeParametersB);

/** Whether the estimate is computed at two ends. */
export function isParameterRange(model: ModelFacts): boolean {
  const [active, total] = [model.activeParametersB, totalOf(model)];
  return active !== null && total !== null && (active.min !== active.max || total.min !== total.max);
}

export const gridInputs = (reading: GridReading, times: GridTimes): GridInputs => ({
  requested_at: times.requested,
  observed_at: times.observed,
  period_start: times.start,
  period_end: times.end,
  is_forecast: flag(reading.signal === 'forecast' || reading.temporalMatch === 'forecast'),
  is_annual: flag(reading.signal === 'annual'),
  is_estimated: flag(isEstimate(reading)),
  stated_match: reading.temporalMatch ? temporalMatches.indexOf(reading.temporalMatch) : null,
});

/** The facts with what no receipt can do without. */
export type PlacedFacts = CallFacts & { readonly grid: GridReading };

const absent = Number.NaN;

export function inputsOf(
  { grid, model, site, telemetry, upstreamLatencyS, usage }: PlacedFacts,
  times: GridTimes,
): Inputs {
  const total = totalOf(model);
  const reading = telemetry && 'energyWh' in telemetry ? telemetry : null;
  return {
    ...gridInputs(grid, times),
    T_in: usage?.promptTokens ?? absent,
    T_cached: usage?.cachedPromptTokens ?? absent,
    T_out: model.kind === 'embedding' ? 0 : (usage?.completionTokens ?? absent),
    T_in_least: usage?.promptLeast ?? null,
    T_in_most: usage?.promptMost ?? null,
    T_out_least: usage?.completionLeast ?? null,
    T_out_most: usage?.completionMost ?? null,
    prompts: usage?.prompts ?? null,
    answers: usage?.answers ?? null,
    P_active_min: model.activeParametersB?.min ?? absent,
    P_active_max: model.activeParametersB?.max ?? absent,
    P_total_min: total?.min ?? absent,
    P_total_max: total?.max ?? absent,
    bits: model.quantizationBits ?? null,
    TPS: model.tokensPerS ?? null,
    TTFT: model.ttftS ?? null,
    upstream_time: upstreamLatencyS ?? null,
    typical_concurrency: site.typicalConcurrency ?? null,
    PUE: site.pue,
    WUE_site: site.wueOnsiteLPerKwh ?? null,
    grid_intensity: grid.gPerKwh,
    WUE_grid: grid.waterLPerKwh ?? null,
    is_lifecycle: flag(grid.basis === 'lifecycle'),
    is_world: flag(isWorld(grid)),
    is_other_hardware: flag(isOtherHardware(site.accelerators)),
    is_assumed_pue: flag(isAssumedPue(site)),
    is_guessed: flag(isGuessed(model)),
    reported_energy: reading?.energyWh ?? absent,
    stated_energy: reading?.stated?.value ?? absent,
    call_tokens: reading?.stated?.tokens?.call ?? absent,
    all_tokens: reading?.stated?.tokens?.all ?? absent,
  };
}
