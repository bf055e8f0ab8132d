/**
 * The receipt's fields that follow from a lineage: its numbers from the outputs of the steps, the others from what is known
 * of the calculation and the grid.
 */
import type { Impact } from './assess.ts';
import { exclusions, type KnownParts } from './boundary.ts';
import type { Calculation } from './calculation.ts';
import { type GridProvenance, type GridTimes, provenanceAt, vintageOf } from './grid.ts';
import type { Lineage } from './lineage-form.ts';
import type { Methodology } from './methodologies.ts';
import type { FactOf } from './trace.ts';

function basisOf({ measured, parameter_range, tier }: Calculation, method: Methodology): Impact['uncertainty_basis'] {
  if (method.combinesBounds) return 'combined';
  if (measured !== null) return measured.bounds === 'stated' ? 'parameter_range' : 'literature_default';
  return tier === 'parametric' && parameter_range ? 'parameter_range' : 'literature_default';
}

function splitOf({ measured }: Calculation): Impact['energy_split'] {
  if (measured === null) return 'modelled';
  return measured.scope === 'total' ? 'unavailable' : 'measured';
}

export function impactFrom(
  lineage: Lineage,
  method: Methodology,
  output: (id: string) => number | null,
  factOf: FactOf,
): Impact {
  const { calculation, grid } = lineage;
  const { boundary, tier } = calculation;
  const number = (id: string): number => output(id) ?? Number.NaN;
  const provenance = provenanceFrom(lineage, factOf, method);
  const known = knownParts(calculation, output);
  return {
    tier,
    tier_reason: lineage.tier_reason,
    boundary,
    boundary_excludes: exclusions(boundary, method, known),
    grid_zone: grid.zone,
    prompt_tokens: lineage.prompt_tokens,
    completion_tokens: lineage.completion_tokens,
    energy_wh: number('energy_wh'),
    energy_accelerator_wh: output('energy_accelerator_wh'),
    energy_host_wh: output('energy_host_wh'),
    energy_idle_wh: output('energy_idle_wh'),
    energy_overhead_wh: output('energy_overhead_wh'),
    energy_low_wh: number('energy_low_wh'),
    energy_high_wh: number('energy_high_wh'),
    energy_split: splitOf(calculation),
    energy_failed_attempts_wh: null,
    carbon_g: number('carbon_g'),
    carbon_operation_g: number('carbon_operation_g'),
    carbon_embodied_g: output('carbon_embodied_g'),
    carbon_low_g: number('carbon_low_g'),
    carbon_high_g: number('carbon_high_g'),
    sci_g_per_request: known.embodied ? number('carbon_g') : null,
    water_ml: output('water_ml'),
    uncertainty_basis: basisOf(calculation, method),
    pue: number('pue'),
    grid_intensity_g_per_kwh: number('grid_intensity_g_per_kwh'),
    grid_intensity_source: grid.source,
    grid_intensity_observed_at: provenance.observedAt,
    grid_intensity_requested_at: provenance.requestedAt,
    grid_intensity_age_minutes: output('grid_intensity_age_minutes'),
    grid_temporal_match: provenance.temporalMatch,
    methodology: method.id,
    methodology_version: method.version,
    methodology_hash: method.hash,
    ...(method.combinesBounds && { water_low_ml: output('water_low_ml'), water_high_ml: output('water_high_ml') }),
    ...statedGrid(lineage, method),
    // Stated to compare with: no number of the receipt follows from it.
    ...(lineage.modelled_energy_wh !== undefined && { modelled_energy_wh: lineage.modelled_energy_wh }),
  };
}

/** What the grid value counts is the word of its source; its year follows from the interval. */
function statedGrid({ grid }: Lineage, { statesGridBasis }: Methodology): Pick<Impact, 'grid_basis' | 'grid_vintage'> {
  const [periodStart = ''] = grid.period.split('/');
  const vintage = vintageOf({ periodStart, signal: grid.signal });
  return statesGridBasis ? { grid_basis: grid.basis ?? 'unknown', grid_vintage: vintage } : {};
}

function knownParts({ cut_short, measured }: Calculation, output: (id: string) => number | null): KnownParts {
  return {
    water: output('water_ml') !== null,
    embodied: output('carbon_embodied_g') !== null,
    overhead: measured?.scope !== 'total' || measured.includes_pue !== false,
    output: cut_short !== true,
  };
}

function provenanceFrom({ grid }: Lineage, factOf: FactOf, method: Methodology): GridProvenance {
  const at = (name: string): number => factOf(name, null) ?? Number.NaN;
  const times: GridTimes = {
    requested: at('requested_at'),
    observed: at('observed_at'),
    start: at('period_start'),
    end: at('period_end'),
    isForecast: at('is_forecast') === 1,
  };
  return provenanceAt(times, { signal: grid.signal, temporalMatch: grid.stated_match }, method);
}
