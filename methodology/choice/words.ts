/** The fields of a receipt's numbers that no program gives, in words, names and times. */
import type { Boundary, TemporalMatch } from '../facts/facts.ts';
import type { StatedBasis } from '../facts/grid.ts';
import type { Calculation } from './calculation.ts';

export interface Words {
  readonly tier: Calculation['tier'];
  readonly tier_reason: string;
  readonly boundary: Boundary;
  readonly boundary_excludes: string[];
  readonly grid_zone: string;
  /** Null where nobody counted the tokens of a measured call. */
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly energy_split: 'modelled' | 'measured' | 'unavailable';
  /** Absent where nothing was measured. */
  readonly measured_by?: 'counters' | 'provider' | 'provider_doubtful' | undefined;
  /** Null where an earlier attempt may have generated something, since no provider reports that. */
  readonly energy_failed_attempts_wh: 0 | null;
  /** Absent in EcoLogits' methodology. */
  readonly energy_failed_attempts_high_wh?: number | null | undefined;
  readonly uncertainty_basis: 'combined' | 'parameter_range' | 'literature_default';
  readonly grid_intensity_source: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly grid_intensity_observed_at: string;
  readonly grid_intensity_requested_at: string;
  readonly grid_temporal_match: TemporalMatch;
  /** Absent in EcoLogits' methodology, with the year. */
  readonly grid_basis?: StatedBasis | undefined;
  readonly grid_vintage?: number | null | undefined;
  readonly methodology: string;
  readonly methodology_version: string;
  readonly methodology_hash: string;
}

/** The names of all of them; the compiler holds the list to the interface. */
export const wordFields = Object.keys({
  tier: 0,
  tier_reason: 0,
  boundary: 0,
  boundary_excludes: 0,
  grid_zone: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  energy_split: 0,
  measured_by: 0,
  energy_failed_attempts_wh: 0,
  energy_failed_attempts_high_wh: 0,
  uncertainty_basis: 0,
  grid_intensity_source: 0,
  grid_intensity_observed_at: 0,
  grid_intensity_requested_at: 0,
  grid_temporal_match: 0,
  grid_basis: 0,
  grid_vintage: 0,
  methodology: 0,
  methodology_version: 0,
  methodology_hash: 0,
} satisfies Record<keyof Words, 0>);
