/**
 * How old a carbon intensity is for one call, and how well it fits the call's time.
 *
 * Invariant: the age is computed anew for every call, from the source's own time; it is never negative. A value for the
 * future has no age.
 */
import type { GridReading, TemporalMatch } from './facts.ts';
import { msOf, textOf } from './instants.ts';
import { msPerMinute } from './units.ts';

/** What a receipt calls the basis; `combustion` has neither the making of the fuel nor that of the power stations. */
export type StatedBasis = 'lifecycle' | 'combustion' | 'unknown';

export const statedBasis = ({ basis = 'unknown' }: Pick<GridReading, 'basis'>): StatedBasis =>
  basis === 'direct' ? 'combustion' : basis;

/** The average of the world stands for a place that nobody named. */
export const isWorld = ({ zone }: Pick<GridReading, 'zone'>): boolean => zone === 'WOR';

/** The year of a yearly value; null for any other. `periodStart` is a time that can be read. */
export const vintageOf = ({ periodStart, signal }: Pick<GridReading, 'periodStart' | 'signal'>): number | null =>
  signal === 'annual' ? new Date(periodStart).getUTCFullYear() : null;

/** In the order of the numbers that stand for them in a lineage. */
export const temporalMatches: readonly TemporalMatch[] = [
  'live_window',
  'fresh',
  'forecast',
  'prior_week',
  'annual_fallback',
  'none',
];
export const matchUnit = `0 to 5: ${temporalMatches.join(', ')}`;

const liveWindowMinutes = 15;
const freshMinutes = 120;

export interface GridProvenance {
  /** RFC 3339, UTC, milliseconds. */
  readonly observedAt: string;
  readonly requestedAt: string;
  /** Minutes with one decimal, 0 inside the observed interval, null for a forecast. */
  readonly ageMinutes: number | null;
  readonly temporalMatch: TemporalMatch;
}

/** The times that an age depends on, ms since 1970. */
export interface GridTimes {
  readonly requested: number;
  readonly observed: number;
  readonly start: number;
  readonly end: number;
  readonly isForecast: boolean;
}

/** What the source says of a value, apart from its times. */
export type GridStatement = Pick<GridReading, 'signal' | 'temporalMatch' | 'isEstimated'>;

/** Whether the source itself calls the value an estimate, in so many words or by the match that it states. */
export const isEstimate = ({ isEstimated, temporalMatch }: Omit<GridStatement, 'signal'>): boolean =>
  isEstimated === true || temporalMatch === 'fresh';

/** How a methodology tells the match. */
export interface MatchRules {
  /** A value that its source calls an estimate (stated `fresh`) is at best `fresh`; before gw-1.2 it passed for live. */
  readonly liveIsMeasured: boolean;
  /** The match follows from the age as it is stated, so that both agree; before gw-1.2 from the age before rounding. */
  readonly matchesStatedAge: boolean;
  /** An estimate (`isEstimate`) is `forecast`, with its age, since nobody has measured it; before gw-1.4 it was `fresh`. */
  readonly estimatesAreForecasts: boolean;
}

const currentRules: MatchRules = { liveIsMeasured: true, matchesStatedAge: true, estimatesAreForecasts: true };

/** Null if a time cannot be read. */
export function gridProvenance(
  reading: GridReading,
  requestedAt: string,
  rules: MatchRules = currentRules,
): GridProvenance | null {
  const times = gridTimes(reading, requestedAt);
  return times === null ? null : provenanceAt(times, reading, rules);
}

/** Null if a time cannot be read. A yearly value counts as observed at the end of its year. */
export function gridTimes(reading: GridReading, requestedAt: string): GridTimes | null {
  const requested = msOf(requestedAt);
  const start = msOf(reading.periodStart);
  const end = msOf(reading.periodEnd);
  const observed = reading.signal === 'annual' ? end : msOf(reading.observedAt);
  if (Number.isNaN(requested + start + end + observed)) return null;
  const isForecast = reading.signal === 'forecast' || reading.temporalMatch === 'forecast';
  return { requested, observed, start, end, isForecast };
}

/** The times are within the range of Date. */
export function provenanceAt(times: GridTimes, statement: GridStatement, rules: MatchRules): GridProvenance {
  const minutes = minutesOld(times);
  const ageMinutes = minutes === null ? null : Math.round(minutes * 10) / 10;
  return {
    observedAt: textOf(times.observed),
    requestedAt: textOf(times.requested),
    ageMinutes,
    temporalMatch: matchOf(statement, rules.matchesStatedAge ? ageMinutes : minutes, rules),
  };
}

function minutesOld(times: GridTimes): number | null {
  if (times.isForecast) return null;
  if (times.start <= times.requested && times.requested < times.end) return 0;
  return times.observed > times.requested ? null : (times.requested - times.observed) / msPerMinute;
}

function matchOf(statement: GridStatement, minutes: number | null, rules: MatchRules): TemporalMatch {
  if (statement.signal === 'annual') return 'annual_fallback';
  if (minutes === null) return 'forecast';
  const stated = statement.temporalMatch;
  if (stated === 'prior_week' || stated === 'annual_fallback' || stated === 'none') return stated;
  if (minutes > freshMinutes) return 'none';
  if (rules.estimatesAreForecasts && isEstimate(statement)) return 'forecast';
  const isFresh = rules.liveIsMeasured && stated === 'fresh';
  return minutes <= liveWindowMinutes && !isFresh ? 'live_window' : 'fresh';
}
