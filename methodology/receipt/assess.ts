/**
 * One call's facts in, the environmental part of its receipt out.
 *
 * Invariant: pure. The same facts give the same answer; there is no clock, no environment and no network. What cannot
 * be assessed is a value with its reason, never an exception and never a zero.
 */
import { type Calculation, calculationOf } from '../choice/calculation.ts';
import { chooseTier } from '../choice/tier.ts';
import type { Words } from '../choice/words.ts';
import { defaultMethodology, type Methodology, type MethodologyId, methodologyOf } from '../documents/methodologies.ts';
import { areSound, isPossible } from '../facts/domain.ts';
import type { CallFacts } from '../facts/facts.ts';
import { gridTimes, statedBasis, vintageOf } from '../facts/grid.ts';
import { type Inputs, inputsOf, type PlacedFacts } from '../facts/inputs.ts';
import { msOf, textOf } from '../facts/instants.ts';
import { type Figures, type Impact, impactOf, type Trace } from '../generated/receipt.ts';
import { matchOf } from './grid-provenance.ts';
import { estimateUnused, type Measurement, measure } from './measured.ts';
import { run } from './programs.ts';
import { cutShortText, exclusions, hasUncountedParts, measuredReason, meterOf, tierReason } from './words.ts';

export { availableTiers } from '../choice/tier.ts';
export type { CallFacts, GridReading, ModelFacts, SiteFacts, TokenUsage } from '../facts/facts.ts';
export type { Impact } from '../generated/receipt.ts';

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

/**
 * Energy in Wh, carbon in gCO2e, water in mL of one call, by the compiled formulas of the methodology; README.md explains them.
 * The carbon always uses an average, location-based intensity: a marginal reading counts as missing.
 */
export function assess(facts: CallFacts, methodology: MethodologyId = defaultMethodology): Assessment {
  const made = calculated(facts, methodologyOf(methodology), null);
  return made.ok ? { ok: true, impact: made.impact } : made;
}

/** A receipt's numbers with what they were made from. */
export interface Calculated {
  readonly ok: true;
  readonly impact: Impact;
  readonly calculation: Calculation;
  readonly inputs: Inputs;
}

/** The one calculation of a receipt. Its steps are written into the trace, if there is one. */
export function calculated(facts: CallFacts, method: Methodology, trace: Trace | null): Calculated | Refusal {
  const placed = placedIn(facts, method);
  const missing = facts.usage === null ? 'usage_missing' : typeof placed === 'string' ? placed : null;
  const measurement = measurementOf(facts, placed, method, trace);
  if (measurement?.ok && typeof placed !== 'string') {
    const { calculation, figures, reading } = measurement;
    const reason = measuredReason(facts, reading, calculation, figures);
    return whole(placed, calculation, figures, { reason, meter: meterOf(reading, figures) }, method);
  }
  const choice = chooseTier(facts.requestedTier, facts.model);
  if (choice.tier === null) return refusedTier(choice.reason, facts, measurement, missing);
  if (facts.model.kind === 'embedding' && !method.isOwn) return refused('no_embedding_factor');
  if (typeof placed === 'string' || missing !== null) return refused(missing ?? 'calculator_fault');
  const calculation = calculationOf(placed.facts, choice, null, method);
  const figures = run(method.id, calculation, placed.inputs, trace);
  const why = measurement === null ? null : measurement.ok ? null : measurement.why;
  return whole(placed, calculation, figures, { reason: tierReason(choice.tier, facts, why, method) }, method);
}

/** Sound facts of a call whose grid is known, with the inputs of its calculation. */
interface Placed {
  readonly facts: PlacedFacts;
  readonly inputs: Inputs;
}

/** Or what is missing beside the token counts. */
function placedIn(facts: CallFacts, { isOwn }: Methodology): Placed | NotAssessed {
  if (!isPlaced(facts) || facts.grid.signal === 'marginal') return 'grid_intensity_missing';
  const isInDomain = areSound(facts) && (!isOwn || isPossible(facts.model));
  const times = isInDomain ? gridTimes(facts.grid, facts.requestedAt) : null;
  return times === null ? 'calculator_fault' : { facts, inputs: inputsOf(facts, times) };
}

const isPlaced = (facts: CallFacts): facts is PlacedFacts => facts.grid !== null;

/** Why the tier is what it is, and who measured the energy. */
interface Said {
  readonly reason: string;
  readonly meter?: Words['measured_by'];
}

function whole(
  { facts, inputs }: Placed,
  calculation: Calculation,
  figures: Figures,
  said: Said,
  method: Methodology,
): Calculated | Refusal {
  if (!areFinite(figures)) return refused('calculator_fault');
  const words = wordsOf(facts, calculation, figures, said, method);
  return { ok: true, impact: impactOf(words, figures), calculation, inputs };
}

/** A number that is not finite, or is negative, makes its rounded sum NaN: the facts were out of the formulas' range. */
function areFinite(figures: Figures): boolean {
  for (const value of Object.values(figures)) if (typeof value === 'number' && !Number.isFinite(value)) return false;
  return true;
}

function wordsOf(
  facts: PlacedFacts,
  { measured, parameter_range, tier }: Calculation,
  figures: Figures,
  { meter, reason }: Said,
  method: Methodology,
): Words {
  const { boundary, grid, isCutShort, requestedAt, usage } = facts;
  const isTotal = measured?.scope === 'total';
  const failedMostWh = method.isOwn
    ? facts.failedAttemptsMostWh === undefined
      ? 0
      : facts.failedAttemptsMostWh
    : undefined;
  return {
    tier,
    tier_reason: reason + cutShortText(facts),
    boundary,
    boundary_excludes: exclusions(boundary, method, {
      water: figures.water_ml !== null,
      embodied: figures.carbon_embodied_g !== null,
      overhead: !isTotal || measured.includes_pue === true,
      output: isCutShort !== true,
      input: !hasUncountedParts(usage),
      tools: usage?.doubts?.includes('ran_tools') !== true,
      media: usage?.doubts?.includes('encodes_media') !== true,
    }),
    grid_zone: grid.zone,
    prompt_tokens: hasUncountedParts(usage) ? null : (usage?.promptTokens ?? null),
    completion_tokens: usage?.completionTokens ?? null,
    energy_split: measured === null ? 'modelled' : isTotal ? 'unavailable' : 'measured',
    measured_by: meter,
    energy_failed_attempts_wh: failedMostWh === 0 ? 0 : null,
    energy_failed_attempts_high_wh: failedMostWh,
    uncertainty_basis: method.isOwn ? 'combined' : parameter_range ? 'parameter_range' : 'literature_default',
    grid_intensity_source: grid.source,
    grid_intensity_observed_at: textOf(msOf(grid.signal === 'annual' ? grid.periodEnd : grid.observedAt)),
    grid_intensity_requested_at: textOf(msOf(requestedAt)),
    grid_temporal_match: matchOf(figures.grid_temporal_match_number),
    grid_basis: method.isOwn ? statedBasis(grid) : undefined,
    grid_vintage: method.isOwn ? vintageOf(grid) : undefined,
    methodology: method.id,
    methodology_version: method.version,
    methodology_hash: method.hash,
  };
}

/** Null where there is none, where it is not asked for, and where the facts do not allow a judgement. */
function measurementOf(
  { requestedTier, telemetry }: CallFacts,
  placed: Placed | NotAssessed,
  method: Methodology,
  trace: Trace | null,
): Measurement | null {
  if (!telemetry || !method.isOwn) return null;
  if (requestedTier !== 'auto' && requestedTier !== 'telemetry') return null;
  if (telemetry.source === 'ecologits_impacts') return estimateUnused;
  return typeof placed === 'string' ? null : measure(telemetry, placed.facts, placed.inputs, method, trace);
}

/** Facts missing for an explicit telemetry tier are named first, then the reason why a figure was not used. */
function refusedTier(
  reason: NotAssessed,
  { requestedTier, telemetry, telemetryFollows }: CallFacts,
  measurement: Measurement | null,
  missing: NotAssessed | null,
): Refusal {
  if (requestedTier === 'telemetry' && telemetryFollows && !telemetry) return refused(missing ?? 'telemetry_pending');
  if (requestedTier === 'telemetry' && telemetry && measurement === null) return refused(missing ?? reason);
  if (measurement === null || measurement.ok) return refused(reason);
  return { ok: false, reason, explanation: `${explanations[reason]} ${sentence(measurement.why)}` };
}

const sentence = (why: string): string => `${why.charAt(0).toUpperCase()}${why.slice(1)}.`;
