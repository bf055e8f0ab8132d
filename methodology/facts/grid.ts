/** The reading of a grid's carbon intensity, as the calculation and the receipt see it. */
import type { GridReading, TemporalMatch } from './facts.ts';
import { msOf } from './instants.ts';

/** The basis in the receipt's words; `combustion` has neither the making of the fuel nor that of the power stations. */
export type StatedBasis = 'lifecycle' | 'combustion' | 'unknown';

export const statedBasis = ({ basis = 'unknown' }: Pick<GridReading, 'basis'>): StatedBasis =>
  basis === 'direct' ? 'combustion' : basis;

/** The average of the world stands for a place that nobody named. */
export const isWorld = ({ zone }: Pick<GridReading, 'zone'>): boolean => zone === 'WOR';

/** The year of a yearly value; null for any other. `periodStart` is a time that can be read. */
export const vintageOf = ({ periodStart, signal }: Pick<GridReading, 'periodStart' | 'signal'>): number | null =>
  signal === 'annual' ? new Date(periodStart).getUTCFullYear() : null;

/** Whether the source itself calls the value an estimate, in so many words or by the match that it states. */
export const isEstimate = ({
  isEstimated,
  temporalMatch,
}: Pick<GridReading, 'temporalMatch' | 'isEstimated'>): boolean => isEstimated === true || temporalMatch === 'fresh';

/** In the order of the numbers that stand for them in formulas. */
export const temporalMatches: readonly TemporalMatch[] = [
  'live_window',
  'fresh',
  'forecast',
  'prior_week',
  'annual_fallback',
  'none',
];
export const matchUnit = `0 to 5: ${temporalMatches.join(', ')}`;

/** The times that an age depends on, ms since 1970. */
export interface GridTimes {
  readonly requested: number;
  readonly observed: number;
  readonly start: number;
  readonly end: number;
}

/** Null if a time cannot be read. A yearly value counts as observed at the end of its year. */
export function gridTimes(reading: GridReading, requestedAt: string): GridTimes | null {
  const requested = msOf(requestedAt);
  const start = msOf(reading.periodStart);
  const end = msOf(reading.periodEnd);
  const observed = reading.signal === 'annual' ? end : msOf(reading.observedAt);
  return Number.isNaN(requested + start + end + observed) ? null : { requested, observed, start, end };
}
