/**
 * The receipt's fields that the calculation determines, in the receipt's order.
 *
 * Invariant: energy_wh is the sum of its non-null components and carbon_g of its two, in the decimals that JSON prints;
 * every number is finite, not negative, and has at most 12 significant digits.
 */
import { decimal } from './decimal.ts';
import type { Boundary, TemporalMatch, TokenUsage } from './facts.ts';
import type { Conditions, Figures } from './footprint.ts';
import { type GridProvenance, type StatedBasis, statedBasis, vintageOf } from './grid.ts';

export interface Impact {
  readonly tier: 'proxy' | 'parametric' | 'telemetry';
  readonly tier_reason: string;
  readonly boundary: Boundary;
  readonly boundary_excludes: string[];
  readonly grid_zone: string;
  /** Null where nobody counted the tokens of a measured call. */
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly energy_wh: number;
  readonly energy_accelerator_wh: number | null;
  readonly energy_host_wh: number | null;
  readonly energy_idle_wh: number | null;
  readonly energy_overhead_wh: number | null;
  readonly energy_low_wh: number;
  readonly energy_high_wh: number;
  readonly energy_split: 'modelled' | 'measured' | 'unavailable';
  readonly energy_failed_attempts_wh: null;
  /** Of what was measured, as far as it can be modelled; absent: nothing was measured, or nothing can be. */
  readonly modelled_energy_wh?: number;
  readonly carbon_g: number;
  readonly carbon_operation_g: number;
  readonly carbon_embodied_g: number | null;
  readonly carbon_low_g: number;
  readonly carbon_high_g: number;
  /** SCI (ISO/IEC 21031) with one call as the unit: O + M, without the client, observability and tools. */
  readonly sci_g_per_request: number | null;
  readonly water_ml: number | null;
  /** Absent in methodologies before gw-1.4. */
  readonly water_low_ml?: number | null;
  readonly water_high_ml?: number | null;
  readonly uncertainty_basis: string;
  readonly pue: number;
  readonly grid_intensity_g_per_kwh: number;
  readonly grid_intensity_source: string;
  readonly grid_intensity_observed_at: string;
  readonly grid_intensity_requested_at: string;
  readonly grid_intensity_age_minutes: number | null;
  readonly grid_temporal_match: TemporalMatch;
  /** Both absent in methodologies before gw-1.4. */
  readonly grid_basis?: StatedBasis;
  readonly grid_vintage?: number | null;
  readonly methodology: string;
  readonly methodology_version: string;
  readonly methodology_hash: string;
}

export interface ImpactInputs {
  readonly conditions: Conditions;
  readonly tier: Impact['tier'];
  readonly tierReason: string;
  readonly figures: Figures;
  readonly split: Impact['energy_split'];
  readonly excludes: string[];
  readonly usage: TokenUsage | null;
  readonly provenance: GridProvenance;
}

/** Null if a result is not a finite, non-negative number: the inputs were out of the formulas' range. */
export function impactOf(inputs: ImpactInputs): Impact | null {
  const { boundary, grid, methodology, site } = inputs.conditions;
  const { excludes, provenance, usage } = inputs;
  const { basis, footprint, high, low } = inputs.figures;
  // One literal and no spread, which would cost more than the calculation.
  const impact: Impact = {
    tier: inputs.tier,
    tier_reason: inputs.tierReason,
    boundary,
    boundary_excludes: excludes,
    grid_zone: grid.zone,
    prompt_tokens: usage?.promptTokens ?? null,
    completion_tokens: usage?.completionTokens ?? null,
    energy_wh: footprint.energy_wh,
    energy_accelerator_wh: footprint.energy_accelerator_wh,
    energy_host_wh: footprint.energy_host_wh,
    energy_idle_wh: footprint.energy_idle_wh,
    energy_overhead_wh: footprint.energy_overhead_wh,
    // The central value is a sum of rounded parts, so it can lie a last digit outside bounds that meet it.
    energy_low_wh: Math.min(low.energyWh, footprint.energy_wh),
    energy_high_wh: Math.max(high.energyWh, footprint.energy_wh),
    energy_split: inputs.split,
    energy_failed_attempts_wh: null,
    carbon_g: footprint.carbon_g,
    carbon_operation_g: footprint.carbon_operation_g,
    carbon_embodied_g: footprint.carbon_embodied_g,
    carbon_low_g: Math.min(low.carbonG, footprint.carbon_g),
    carbon_high_g: Math.max(high.carbonG, footprint.carbon_g),
    // Without the embodied part (also in the narrow boundary) it would be half of the SCI's formula.
    sci_g_per_request: footprint.carbon_embodied_g === null ? null : footprint.carbon_g,
    water_ml: footprint.water_ml,
    uncertainty_basis: basis,
    pue: decimal(site.pue),
    grid_intensity_g_per_kwh: decimal(grid.gPerKwh),
    grid_intensity_source: grid.source,
    grid_intensity_observed_at: provenance.observedAt,
    grid_intensity_requested_at: provenance.requestedAt,
    grid_intensity_age_minutes: provenance.ageMinutes,
    grid_temporal_match: provenance.temporalMatch,
    methodology: methodology.id,
    methodology_version: methodology.version,
    methodology_hash: methodology.hash,
  };
  // Into the same object, for the same reason.
  if (methodology.combinesBounds) Object.assign(impact, waterBounds(inputs));
  if (methodology.statesGridBasis) {
    Object.assign(impact, { grid_basis: statedBasis(grid), grid_vintage: vintageOf(grid) });
  }
  return isSound(impact) ? impact : null;
}

function waterBounds({ figures: { footprint, high, low } }: ImpactInputs) {
  const water = footprint.water_ml;
  if (water === null) return { water_low_ml: null, water_high_ml: null };
  return {
    water_low_ml: Math.min(low.waterMl ?? Number.NaN, water),
    water_high_ml: Math.max(high.waterMl ?? Number.NaN, water),
  };
}

/** A part that is not finite and non-negative makes its rounded sum NaN (decimal.ts), so the sums tell. */
function isSound(impact: Impact): boolean {
  const sums = [impact.energy_low_wh, impact.energy_high_wh, impact.carbon_low_g, impact.carbon_high_g];
  const { water_high_ml, water_low_ml, water_ml } = impact;
  return [...sums, water_ml ?? 0, water_low_ml ?? 0, water_high_ml ?? 0].every(Number.isFinite);
}
