/**
 * The lineage of a receipt: every step of its calculation with formula, inputs, factors, output and bounds.
 *
 * Invariant: a lineage is complete. `recompute` gives the receipt's numbers from it alone, and nothing else is needed but
 * the methodology that it names. It is plain JSON, and doubles in it are exact. It is made when it is asked for, from the
 * stored facts, and says them; the same facts of the same call give the same lineage.
 */
import { assess, type CallFacts, type Impact, type Refusal } from './assess.ts';
import type { Calculation } from './calculation.ts';
import { estimatedIn } from './counts.ts';
import type { GridReading } from './facts.ts';
import { type GridTimes, gridTimes, isEstimate, statedBasis, temporalMatches, vintageOf } from './grid.ts';
import { waterSourceOf } from './grid-factors.ts';
import { inputValues } from './inputs.ts';
import { type DigestedCall, lineageDigest, statedCall } from './lineage-digest.ts';
import type { Lineage, LineageGrid, LineageTelemetry } from './lineage-form.ts';
import { defaultMethodology, type Methodology, type MethodologyId, methodologyOf } from './methodologies.ts';
import { isParameterRange } from './parametric.ts';
import { planOf } from './plan.ts';
import { sourcesOf } from './sources.ts';
import { statedFacts } from './stated-facts.ts';
import type { TelemetryReading } from './telemetry/reading.ts';
import { chooseTier } from './tier.ts';
import { traced } from './trace.ts';

export { callOf, lineageDigest, type StatedCall } from './lineage-digest.ts';
export type { Lineage, LineageStep, LineageTelemetry } from './lineage-form.ts';
export { usageSource } from './receipt-words.ts';
export type { LineageSource } from './sources.ts';

export type LineageResult = { readonly ok: true; readonly lineage: Lineage } | Refusal;

/**
 * The lineage of the receipt that `assess` makes of the same facts and methodology, or the same refusal. `call`: whose facts
 * they are (`callOf`); null for facts by themselves.
 */
export function lineageOf(
  facts: CallFacts,
  methodology: MethodologyId = defaultMethodology,
  call: DigestedCall = null,
): LineageResult {
  const assessment = assess(facts, methodology);
  if (!assessment.ok) return assessment;
  const times = facts.grid === null ? null : gridTimes(facts.grid, facts.requestedAt);
  if (facts.grid === null || times === null) return unexplained;
  const lineage = lineageFrom(
    { facts, call, grid: facts.grid, times, impact: assessment.impact },
    methodologyOf(methodology),
  );
  // At the edge of a double's range a step can overflow that the receipt did not need; such a lineage proves nothing.
  return explains(lineage, assessment.impact) ? { ok: true, lineage } : unexplained;
}

/** Whether the steps give the receipt's numbers; `recompute` says so again without the facts. */
function explains({ steps }: Lineage, impact: Impact): boolean {
  const match = temporalMatches.indexOf(impact.grid_temporal_match);
  const fields = new Map<string, unknown>([...Object.entries(impact), ['grid_temporal_match_number', match]]);
  return steps.every(
    ({ id, output: { value } }) =>
      (value === null || Number.isFinite(value)) && (!fields.has(id) || fields.get(id) === value),
  );
}

const unexplained: Refusal = {
  ok: false,
  reason: 'calculator_fault',
  explanation: 'The steps of this calculation are out of the range of numbers.',
};

interface Explained {
  readonly facts: CallFacts;
  readonly call: DigestedCall;
  readonly grid: GridReading;
  readonly times: GridTimes;
  readonly impact: Impact;
}

function lineageFrom({ facts, call, grid, times, impact }: Explained, method: Methodology): Lineage {
  const calculation = calculationOf(facts, impact, method);
  const gridPart = gridOf(grid, method);
  const stated = statedFacts(facts);
  return {
    object: 'gw.lineage',
    methodology: impact.methodology,
    methodology_version: impact.methodology_version,
    methodology_hash: impact.methodology_hash,
    ...(call !== null && { call: statedCall(call) }),
    facts: stated,
    sources: sourcesOf(facts, call?.provider ?? null),
    calculation,
    tier_reason: impact.tier_reason,
    boundary_excludes: impact.boundary_excludes,
    prompt_tokens: impact.prompt_tokens,
    completion_tokens: impact.completion_tokens,
    energy_split: impact.energy_split,
    uncertainty_basis: impact.uncertainty_basis,
    grid: gridPart,
    telemetry: telemetryOf(facts, impact.tier === 'telemetry'),
    ...(stated.site.accelerators && { accelerators: stated.site.accelerators }),
    ...(impact.modelled_energy_wh !== undefined && { modelled_energy_wh: impact.modelled_energy_wh }),
    ...(facts.simulated && { simulated: true }),
    steps: traced(planOf(calculation, method), {
      calculation,
      method,
      factOf: inputValues(facts, times),
      grid: gridPart,
      basis: impact.uncertainty_basis,
    }),
    digest: lineageDigest(call, facts, impact.methodology_hash),
  };
}

const gridOf = (grid: GridReading, method: Methodology): LineageGrid => ({
  zone: grid.zone,
  source: grid.source,
  signal: grid.signal,
  stated_match: grid.temporalMatch,
  period: `${grid.periodStart}/${grid.periodEnd}`,
  water_source: waterSourceOf(grid, method),
  ...(method.statesGridBasis && {
    basis: statedBasis(grid),
    vintage: vintageOf(grid),
    is_estimated: isEstimate(grid),
  }),
});

function calculationOf(facts: CallFacts, impact: Impact, method: Methodology): Calculation {
  const { boundary, model, telemetry } = facts;
  const reading = impact.tier === 'telemetry' && telemetry && 'energyWh' in telemetry ? telemetry : null;
  const best = chooseTier(facts.requestedTier === 'telemetry' ? 'auto' : facts.requestedTier, model);
  const isServed =
    facts.usage !== null && (reading === null || method.statesModelled || modelServes(reading, boundary, best.tier));
  const modelledBy = isServed ? best.tier : null;
  const uncompared =
    reading === null || modelledBy !== null || !method.statesModelled
      ? null
      : facts.usage === null
        ? ('tokens' as const)
        : ('model' as const);
  const estimated = modelledBy === null && uncompared !== 'model' ? null : estimatedIn(facts.usage, method);
  return {
    tier: impact.tier,
    boundary,
    model_kind: model.kind,
    modelled_by: modelledBy,
    parameter_range: modelledBy === 'parametric' && isParameterRange(model),
    model_class: best.tier === 'proxy' && modelledBy === 'proxy' ? best.modelClass : null,
    measured: reading === null ? null : measuredOf(reading),
    ...(uncompared !== null && { uncompared }),
    ...(estimated !== null && { estimated_counts: estimated }),
    ...(facts.isCutShort && { cut_short: true }),
  };
}

/** Whether a part of a measured receipt comes from the model: the host, or the embodied part of a total. Later versions also compare. */
const modelServes = ({ scope }: TelemetryReading, boundary: CallFacts['boundary'], tier: string | null): boolean =>
  scope === 'total' ? tier === 'parametric' : boundary === 'comprehensive';

function measuredOf({ includesPue, scope, source, stated }: TelemetryReading): Calculation['measured'] {
  const literature = source === 'ecologits_impacts' ? 'estimate' : 'measurement';
  return {
    scope,
    unit: stated?.unit ?? null,
    bounds: scope === 'total' && stated?.range ? 'stated' : literature,
    includes_pue: includesPue,
  };
}

function telemetryOf({ simulated, telemetry }: CallFacts, used: boolean): LineageTelemetry | null {
  if (!telemetry) return null;
  const reading = 'energyWh' in telemetry ? telemetry : null;
  return {
    used,
    // A simulator borrows the shape of a meter; whoever that belongs to has said nothing.
    energy_source: simulated ? 'simulated' : energySources[telemetry.source],
    source: simulated ? 'simulator' : telemetry.source,
    refused: 'refused' in telemetry ? telemetry.refused : null,
    scope: reading?.scope ?? null,
    includes_pue: reading?.includesPue ?? null,
    duration_s: reading?.durationS ?? null,
    attribution: reading?.attribution ?? null,
    interval_s: reading?.intervalS ?? null,
    stated: reading?.stated ?? null,
    raw: telemetry.raw ?? null,
  };
}

const energySources: Readonly<Record<TelemetryReading['source'], LineageTelemetry['energy_source']>> = {
  neuralwatt: 'provider_reported',
  greenpt: 'provider_reported',
  melious: 'provider_reported',
  energy_header: 'provider_reported',
  ecologits_impacts: 'provider_estimated',
  gpu_counters: 'own_counters',
};
