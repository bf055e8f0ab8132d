/**
 * The receipt's fields that the calculation determines, in the receipt's order.
 *
 * Invariant: energy_wh is the sum of its non-null components and carbon_g of its two, in the decimals that JSON prints;
 * every number is finite, not negative, and has at most 12 significant digits.
 */
import { accountFor, exclusions, type RequestSteps } from './boundary.ts';
import { decimal, decimalSum } from './decimal.ts';
import type { Boundary, GridReading, SiteFacts, TemporalMatch, TokenUsage } from './facts.ts';
import type { GridProvenance } from './grid.ts';
import type { Methodology } from './methodologies.ts';
import { whPerKwh } from './units.ts';
import type { Estimate } from './work.ts';

export interface Impact {
  readonly tier: 'proxy' | 'parametric' | 'telemetry';
  readonly tier_reason: string;
  readonly boundary: Boundary;
  readonly boundary_excludes: string[];
  readonly grid_zone: string;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly energy_wh: number;
  readonly energy_accelerator_wh: number | null;
  readonly energy_host_wh: number | null;
  readonly energy_idle_wh: number | null;
  readonly energy_overhead_wh: number | null;
  readonly energy_low_wh: number;
  readonly energy_high_wh: number;
  readonly energy_split: 'modelled' | 'measured' | 'unavailable';
  readonly energy_failed_attempts_wh: null;
  readonly carbon_g: number;
  readonly carbon_operation_g: number;
  readonly carbon_embodied_g: number | null;
  readonly carbon_low_g: number;
  readonly carbon_high_g: number;
  /** SCI (ISO/IEC 21031) with one call as the unit: O + M, without the client, observability and tools. */
  readonly sci_g_per_request: number | null;
  readonly water_ml: number | null;
  readonly uncertainty_basis: string;
  readonly pue: number;
  readonly grid_intensity_g_per_kwh: number;
  readonly grid_intensity_source: string;
  readonly grid_intensity_observed_at: string;
  readonly grid_intensity_requested_at: string;
  readonly grid_intensity_age_minutes: number | null;
  readonly grid_temporal_match: TemporalMatch;
  readonly methodology: string;
  readonly methodology_version: string;
  readonly methodology_hash: string;
}

export interface ImpactInputs {
  readonly tier: Impact['tier'];
  readonly tierReason: string;
  readonly estimate: Estimate;
  readonly boundary: Boundary;
  readonly usage: TokenUsage;
  readonly site: SiteFacts;
  readonly grid: GridReading;
  readonly provenance: GridProvenance;
  readonly methodology: Methodology;
}

/** Null if a result is not a finite, non-negative number: the inputs were out of the formulas' range. */
export function impactOf(inputs: ImpactInputs): Impact | null {
  const { boundary, estimate, grid, methodology, site, usage } = inputs;
  const account = (work: Estimate['central']) => accountFor(work, site, grid, methodology.idleShare);
  const footprintOf = boundary === 'narrow' ? narrowFootprint : comprehensiveFootprint;
  const central = account(estimate.central);
  const footprint = footprintOf(central, grid, methodology.idleShare !== null);
  const low = totals(account(estimate.low), boundary, grid);
  const high = totals(account(estimate.high), boundary, grid);
  const impact: Impact = {
    tier: inputs.tier,
    tier_reason: inputs.tierReason,
    boundary,
    boundary_excludes: exclusions(boundary, methodology, footprint.water_ml !== null),
    grid_zone: grid.zone,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    energy_wh: footprint.energy_wh,
    energy_accelerator_wh: footprint.energy_accelerator_wh,
    energy_host_wh: footprint.energy_host_wh,
    energy_idle_wh: footprint.energy_idle_wh,
    energy_overhead_wh: footprint.energy_overhead_wh,
    // The central value is a sum of rounded parts, so it can lie a last digit outside bounds that meet it.
    energy_low_wh: Math.min(low.energyWh, footprint.energy_wh),
    energy_high_wh: Math.max(high.energyWh, footprint.energy_wh),
    energy_split: 'modelled',
    energy_failed_attempts_wh: null,
    carbon_g: footprint.carbon_g,
    carbon_operation_g: footprint.carbon_operation_g,
    carbon_embodied_g: footprint.carbon_embodied_g,
    carbon_low_g: Math.min(low.carbonG, footprint.carbon_g),
    carbon_high_g: Math.max(high.carbonG, footprint.carbon_g),
    sci_g_per_request: boundary === 'narrow' ? null : footprint.carbon_g,
    water_ml: footprint.water_ml,
    uncertainty_basis: estimate.basis,
    pue: decimal(site.pue),
    ...gridFields(grid, inputs.provenance),
    methodology: methodology.id,
    methodology_version: methodology.version,
    methodology_hash: methodology.hash,
  };
  return isSound(impact) ? impact : null;
}

function gridFields(grid: GridReading, provenance: GridProvenance) {
  return {
    grid_intensity_g_per_kwh: decimal(grid.gPerKwh),
    grid_intensity_source: grid.source,
    grid_intensity_observed_at: provenance.observedAt,
    grid_intensity_requested_at: provenance.requestedAt,
    grid_intensity_age_minutes: provenance.ageMinutes,
    grid_temporal_match: provenance.temporalMatch,
  };
}

type Footprint = Pick<
  Impact,
  | 'energy_wh'
  | 'energy_accelerator_wh'
  | 'energy_host_wh'
  | 'energy_idle_wh'
  | 'energy_overhead_wh'
  | 'carbon_g'
  | 'carbon_operation_g'
  | 'carbon_embodied_g'
  | 'water_ml'
>;

function comprehensiveFootprint(steps: RequestSteps, _grid: GridReading, countsIdle: boolean): Footprint {
  const modelled = [steps.accelerator_energy, steps.host_energy, steps.overhead_energy];
  const energy = decimalSum(countsIdle ? [...modelled, steps.idle_energy] : modelled);
  const carbon = decimalSum([steps.request_usage_gwp, steps.request_embodied_gwp]);
  const [accelerator = Number.NaN, host = Number.NaN, overhead = Number.NaN, idle = null] = energy.parts;
  const [operation = Number.NaN, embodied = Number.NaN] = carbon.parts;
  return {
    energy_wh: energy.total,
    energy_accelerator_wh: accelerator,
    energy_host_wh: host,
    energy_idle_wh: idle,
    energy_overhead_wh: overhead,
    carbon_g: carbon.total,
    carbon_operation_g: operation,
    carbon_embodied_g: embodied,
    water_ml: steps.request_usage_wcf === null ? null : decimal(steps.request_usage_wcf),
  };
}

function narrowFootprint(steps: RequestSteps, grid: GridReading): Footprint {
  const { energyWh, carbonG } = totals(steps, 'narrow', grid);
  return {
    energy_wh: energyWh,
    energy_accelerator_wh: energyWh,
    energy_host_wh: null,
    energy_idle_wh: null,
    energy_overhead_wh: null,
    carbon_g: carbonG,
    carbon_operation_g: carbonG,
    carbon_embodied_g: null,
    water_ml: null,
  };
}

function totals(steps: RequestSteps, boundary: Boundary, grid: GridReading): { energyWh: number; carbonG: number } {
  if (boundary === 'comprehensive') {
    return {
      energyWh: decimal(steps.request_energy),
      carbonG: decimal(steps.request_usage_gwp + steps.request_embodied_gwp),
    };
  }
  const energy = steps.accelerator_energy;
  return { energyWh: decimal(energy), carbonG: decimal((energy / whPerKwh) * grid.gPerKwh) };
}

/** A part that is not finite and non-negative makes its rounded sum NaN (decimal.ts), so the sums tell. */
function isSound(impact: Impact): boolean {
  const sums = [impact.energy_low_wh, impact.energy_high_wh, impact.carbon_low_g, impact.carbon_high_g];
  return sums.every(Number.isFinite) && Number.isFinite(impact.water_ml ?? 0);
}
