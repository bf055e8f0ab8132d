/**
 * The lineage of a receipt: every step of its calculation with formula, inputs, factors, output and bounds.
 *
 * Invariant: a lineage is complete. `recompute` gives the receipt's numbers from it alone, and nothing else is needed but
 * the methodology that it names. It is plain JSON, and doubles in it are exact. It is made when it is asked for, from the
 * stored facts, by the calculation that made the receipt; the same facts of the same call give the same lineage.
 */
import type { Calculation } from '../choice/calculation.ts';
import { planOf } from '../choice/plan.ts';
import { defaultMethodology, type Methodology, type MethodologyId, methodologyOf } from '../documents/methodologies.ts';
import type { CallFacts, GridReading } from '../facts/facts.ts';
import { isEstimate, statedBasis, vintageOf } from '../facts/grid.ts';
import { statedFacts } from '../facts/stated-facts.ts';
import type { TelemetryReading } from '../facts/telemetry/reading.ts';
import type { Trace } from '../generated/receipt.ts';
import { type Calculated, calculated, type Impact, type Refusal } from '../receipt/assess.ts';
import { waterSourceOf } from './grid-factors.ts';
import { type DigestedCall, lineageDigest, statedCall } from './lineage-digest.ts';
import type { BesideOurs, Lineage, LineageGrid, LineageTelemetry } from './lineage-form.ts';
import { sourcesOf } from './sources.ts';
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
  const made = explained(facts, methodologyOf(methodology), call);
  return made.ok ? { ok: true, lineage: made.lineage } : made;
}

/** A lineage with the receipt's numbers, from one calculation. */
export function explained(
  facts: CallFacts,
  method: Methodology,
  call: DigestedCall,
): { readonly ok: true; readonly lineage: Lineage; readonly impact: Impact } | Refusal {
  const trace: Trace = {};
  const made = calculated(facts, method, trace);
  if (!made.ok) return made;
  const { grid } = facts;
  const isInRange = Object.values(trace).every((value) => value === null || Number.isFinite(value));
  // At the edge of a double's range a step can overflow that the receipt did not need; such a lineage proves nothing.
  if (grid === null || !isInRange) return unexplained;
  return { ok: true, lineage: lineageFrom({ facts, call, grid, made, trace }, method), impact: made.impact };
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
  readonly made: Calculated;
  readonly trace: Trace;
}

function lineageFrom({ call, facts, grid, made, trace }: Explained, method: Methodology): Lineage {
  const { calculation, impact, inputs } = made;
  const gridPart = gridOf(grid, method);
  const stated = statedFacts(facts);
  const theirs = method.isOwn ? byEcologits(facts, calculation) : undefined;
  return {
    object: 'gw.lineage',
    methodology: impact.methodology,
    methodology_version: impact.methodology_version,
    methodology_hash: impact.methodology_hash,
    ...(call !== null && { call: statedCall(call) }),
    facts: stated,
    sources: sourcesOf(facts, call?.provider ?? null),
    calculation: statedCalculation(calculation),
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
    ...(theirs !== undefined && { ecologits: theirs }),
    ...(facts.simulated && { simulated: true }),
    ...traced(planOf(calculation, method), {
      calculation,
      method,
      inputs: { ...inputs },
      trace,
      grid: gridPart,
      basis: impact.uncertainty_basis,
    }),
    digest: lineageDigest(call, facts, impact.methodology_hash),
  };
}

/** Undefined where it has no value that could stand beside ours: its own of a class of models are no model of this one. */
function byEcologits(facts: CallFacts, { model_kind, tier }: Calculation): BesideOurs | undefined {
  if (tier !== 'parametric' || model_kind !== 'chat') return undefined;
  const made = calculated(facts, methodologyOf('ecologits-0.11.3'), null);
  if (!made.ok) return undefined;
  const { carbon_g, energy_wh, methodology_hash, methodology_version, water_ml } = made.impact;
  return { methodology_version, methodology_hash, energy_wh, carbon_g, water_ml };
}

/** Without the fields that it leaves out. */
const statedCalculation = ({ cut_short, estimated_counts, ...stated }: Calculation): Calculation => ({
  ...stated,
  ...(estimated_counts !== undefined && { estimated_counts }),
  ...(cut_short !== undefined && { cut_short }),
});

const gridOf = (grid: GridReading, method: Methodology): LineageGrid => ({
  zone: grid.zone,
  source: grid.source,
  signal: grid.signal,
  stated_match: grid.temporalMatch,
  period: `${grid.periodStart}/${grid.periodEnd}`,
  water_source: waterSourceOf(grid, method),
  ...(method.isOwn && {
    basis: statedBasis(grid),
    vintage: vintageOf(grid),
    is_estimated: isEstimate(grid),
  }),
});

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
