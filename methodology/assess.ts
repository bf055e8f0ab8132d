/**
 * One call's facts in, the environmental part of its receipt out.
 *
 * Invariant: pure. The same facts give the same answer; there is no clock, no environment and no network. What cannot
 * be assessed is a value with its reason, never an exception and never a zero.
 */
import { exclusions } from './boundary.ts';
import { countsText } from './counts.ts';
import { decimal } from './decimal.ts';
import { areSound } from './domain.ts';
import { classEstimate, fewestTokens, modelledOf, type ReadyFacts } from './estimates.ts';
import type { CallFacts, GridReading, ModelClass } from './facts.ts';
import { type Conditions, type Figures, figuresOfTotal, figuresOfWork } from './footprint.ts';
import { type GridProvenance, gridProvenance } from './grid.ts';
import { type Impact, impactOf } from './impact.ts';
import { estimateUnused, type Measurement, measure, measureUncounted, workWithMeasured } from './measured.ts';
import { defaultMethodology, type Methodology, type MethodologyId, methodologyOf } from './methodologies.ts';
import { chooseTier, cutShortText, measuredReason, type TierChoice, tierReason } from './tier.ts';

export type { CallFacts, GridReading, ModelFacts, SiteFacts, TokenUsage } from './facts.ts';
export type { Impact } from './impact.ts';
export { availableTiers } from './tier.ts';

export type NotAssessed =
  | 'usage_missing'
  | 'model_parameters_unknown'
  | 'no_embedding_factor'
  | 'grid_intensity_missing'
  | 'tier_unavailable'
  | 'telemetry_pending'
  | 'calculator_fault';

export interface Refusal {
  readonly ok: false;
  readonly reason: NotAssessed;
  readonly explanation: string;
}

export type Assessment = { readonly ok: true; readonly impact: Impact } | Refusal;

const explanations: Readonly<Record<NotAssessed, string>> = {
  usage_missing: 'The provider reported no token usage for this call.',
  model_parameters_unknown: 'Neither the parameter counts nor the size class of this model are known.',
  no_embedding_factor: 'There is no energy factor for this embedding model.',
  grid_intensity_missing: 'There is no average carbon intensity for the grid zone of this call.',
  tier_unavailable: 'The requested tier cannot be served for this model and provider.',
  telemetry_pending: 'The energy of this call is read from counters after it; a later version of this receipt has it.',
  calculator_fault: 'The calculation failed on the facts of this call.',
};

const refused = (reason: NotAssessed): Refusal => ({ ok: false, reason, explanation: explanations[reason] });

/** Measured energy alone can do without the tokens. */
type MeasurableFacts = CallFacts & { readonly grid: GridReading };

/**
 * Energy in Wh, carbon in gCO2e, water in mL of one call. Computed in parametric.ts, proxy.ts, boundary.ts
 * (`accountFor`) and footprint.ts; the same formulas as texts for the lineage: programs.ts; factors with their sources:
 * factor-table.ts; README.md explains them.
 * The carbon always uses an average, location-based intensity: a marginal reading counts as missing.
 */
export function assess(facts: CallFacts, methodology: MethodologyId = defaultMethodology): Assessment {
  const method = methodologyOf(methodology);
  const measurement = measurementOf(facts, method);
  const choice: TierChoice | null = measurement?.ok ? null : chooseTier(facts.requestedTier, facts.model);
  if (choice?.tier === null) return refusedTier(choice.reason, facts, measurement, method);
  if (facts.model.kind === 'embedding' && !method.chargesInput) return refused('no_embedding_factor');
  const missing = missingIn(facts, method);
  const isUncounted = measurement?.ok === true && missing === 'usage_missing';
  if ((missing !== null && !isUncounted) || facts.grid === null) return refused(missing ?? 'calculator_fault');
  const provenance = gridProvenance(facts.grid, facts.requestedAt, method);
  if (provenance === null) return refused('calculator_fault');
  const { grid } = facts;
  const impact = measurement?.ok
    ? measuredImpact({ ...facts, grid }, measurement, method, provenance)
    : isReady(facts)
      ? modelledImpact(facts, choice, method, provenance, measurement?.why ?? null)
      : null;
  return impact === null ? refused('calculator_fault') : { ok: true, impact };
}

/** Null where there is none, where it is not asked for, and where the facts do not allow a judgement. */
function measurementOf(facts: CallFacts, method: Methodology): Measurement | null {
  const { model, requestedTier, telemetry } = facts;
  if (!telemetry || !method.measures) return null;
  if (requestedTier !== 'auto' && requestedTier !== 'telemetry') return null;
  if (method.measurementsOnly && telemetry.source === 'ecologits_impacts') return estimateUnused;
  const missing = missingIn(facts, method);
  if (missing === 'usage_missing' && method.measuresUncounted) {
    const { grid } = facts;
    if (missingButUsage(facts, method) !== null || grid === null) return null;
    return measureUncounted(telemetry, facts, { grid, method, floor: fewestTokens({ ...facts, grid }, method) });
  }
  if (missing !== null || !isReady(facts)) return null;
  const modelled = modelledOf(chooseTier('auto', model), facts, method);
  const ofClass = (name: ModelClass | null) =>
    modelled !== null || name === null ? null : classEstimate(name, facts, method);
  const floorClass = method.floorClasses?.[model.kind] ?? null;
  const comparison = { modelled, ceiling: ofClass(method.ceilingClass), floor: ofClass(floorClass) };
  return measure(telemetry, facts, method, comparison);
}

/** What is missing in the facts for an explicit telemetry tier comes first, then why a figure was not used. */
function refusedTier(
  reason: NotAssessed,
  facts: CallFacts,
  measurement: Measurement | null,
  method: Methodology,
): Refusal {
  if (facts.requestedTier === 'telemetry' && facts.telemetryFollows && !facts.telemetry) {
    return refused(missingIn(facts, method) ?? 'telemetry_pending');
  }
  if (facts.requestedTier === 'telemetry' && facts.telemetry && measurement === null) {
    return refused(missingIn(facts, method) ?? reason);
  }
  if (measurement === null || measurement.ok) return refused(reason);
  return { ok: false, reason, explanation: `${explanations[reason]} ${sentence(measurement.why)}` };
}

const sentence = (why: string): string => `${why.charAt(0).toUpperCase()}${why.slice(1)}.`;

function missingIn(facts: CallFacts, method: Methodology): NotAssessed | null {
  return facts.usage === null ? 'usage_missing' : missingButUsage(facts, method);
}

function missingButUsage(facts: CallFacts, method: Methodology): NotAssessed | null {
  if (facts.grid === null || facts.grid.signal === 'marginal') return 'grid_intensity_missing';
  return areSound(facts, method) ? null : 'calculator_fault';
}

const isReady = (facts: CallFacts): facts is ReadyFacts => facts.usage !== null && facts.grid !== null;

function modelledImpact(
  facts: ReadyFacts,
  choice: TierChoice | null,
  methodology: Methodology,
  provenance: GridProvenance,
  unmeasured: string | null,
): Impact | null {
  const modelled = choice === null ? null : modelledOf(choice, facts, methodology);
  if (modelled === null) return null;
  const { boundary, grid, model, requestedTier, site, usage } = facts;
  const conditions: Conditions = { boundary, site, grid, methodology, gridAgeMinutes: provenance.ageMinutes };
  const figures = figuresOfWork(modelled.estimate, conditions);
  const capped = facts.upstreamLatencyS !== null;
  const follows = facts.telemetryFollows === true;
  return impactOf({
    conditions,
    tier: modelled.tier,
    tierReason: tierReason(modelled.tier, {
      requested: requestedTier,
      model,
      site,
      capped,
      unmeasured,
      follows,
      methodology,
      counts: countsText(usage, methodology) + cutShortText(facts),
    }),
    figures,
    split: 'modelled',
    excludes: excludesOf(figures, conditions, facts, true),
    usage,
    provenance,
  });
}

function measuredImpact(
  facts: MeasurableFacts,
  { expected, modelled, reach, reading }: Measurement & { readonly ok: true },
  methodology: Methodology,
  provenance: GridProvenance,
): Impact | null {
  const { boundary, grid, requestedTier, site, usage } = facts;
  const conditions: Conditions = { boundary, site, grid, methodology, gridAgeMinutes: provenance.ageMinutes };
  const isTotal = reading.scope === 'total';
  const compared = modelled === null || expected === null ? null : { tier: modelled.tier, expected };
  // A class is too rough a guide to how long the accelerators were taken: the embodied part needs parameter counts.
  const making = modelled?.tier === 'parametric' ? modelled.estimate : null;
  const figures = isTotal
    ? figuresOfTotal(reading, making, reach, conditions)
    : figuresOfWork(workWithMeasured(reading, modelled?.estimate ?? null, reach, methodology), conditions);
  const impact = impactOf({
    conditions,
    tier: 'telemetry',
    tierReason:
      measuredReason(
        requestedTier,
        { ...conditions, usage, simulated: facts.simulated === true, isTimed: facts.upstreamLatencyS !== null },
        reading,
        compared,
      ) + cutShortText(facts),
    figures,
    split: isTotal ? 'unavailable' : 'measured',
    excludes: excludesOf(figures, conditions, facts, !isTotal || reading.includesPue !== false),
    usage,
    provenance,
  });
  if (impact === null || expected === null || !methodology.statesModelled) return impact;
  return Object.assign(impact, { modelled_energy_wh: decimal(expected.wh) });
}

function excludesOf(
  { footprint }: Figures,
  { boundary, methodology }: Conditions,
  { isCutShort }: CallFacts,
  overhead: boolean,
): string[] {
  const embodied = footprint.carbon_embodied_g !== null;
  const output = isCutShort !== true;
  return exclusions(boundary, methodology, { water: footprint.water_ml !== null, embodied, overhead, output });
}
