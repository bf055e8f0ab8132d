/**
 * How old a carbon intensity is for one call, and how well it fits the call's time.
 *
 * Invariant: the age is computed anew for every call, from the source's own time; it is never negative. A value for the
 * future has no age.
 */
import type { GridReading, TemporalMatch } from '../facts/facts.ts';
import { gridTimes, temporalMatches } from '../facts/grid.ts';
import { gridInputs } from '../facts/inputs.ts';
import { textOf } from '../facts/instants.ts';
import { gridSteps } from '../generated/gw-2.0.ts';

export { isEstimate, type StatedBasis, statedBasis, vintageOf } from '../facts/grid.ts';

export interface GridProvenance {
  /** RFC 3339, UTC, milliseconds. */
  readonly observedAt: string;
  readonly requestedAt: string;
  /** Minutes with one decimal, 0 inside the observed interval, null for a forecast. */
  readonly ageMinutes: number | null;
  readonly temporalMatch: TemporalMatch;
}

/** Null if a time cannot be read. */
export function gridProvenance(reading: GridReading, requestedAt: string): GridProvenance | null {
  const times = gridTimes(reading, requestedAt);
  if (times === null) return null;
  const steps = gridSteps(gridInputs(reading, times));
  return {
    observedAt: textOf(times.observed),
    requestedAt: textOf(times.requested),
    ageMinutes: steps.grid_intensity_age_minutes,
    temporalMatch: matchOf(steps.grid_temporal_match_number),
  };
}

/** The match that a number of the formula stands for. */
export function matchOf(number: number | null): TemporalMatch {
  const match = number === null ? undefined : temporalMatches[number];
  if (match === undefined) throw new RangeError(`No temporal match has the number ${number}`);
  return match;
}
