/**
 * How old a carbon intensity is for one call, and how well it fits the call's time.
 *
 * Invariant: the age is computed anew for every call, from the source's own time; it is never negative. A value for the
 * future has no age.
 */
import type { GridReading, TemporalMatch } from './facts.ts';
import { msPerMinute } from './units.ts';

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

/** Null if a time cannot be read. A yearly value counts as observed at the end of its year. */
export function gridProvenance(reading: GridReading, requestedAt: string): GridProvenance | null {
  const requested = Date.parse(requestedAt);
  const start = Date.parse(reading.periodStart);
  const end = Date.parse(reading.periodEnd);
  const observed = reading.signal === 'annual' ? end : Date.parse(reading.observedAt);
  if (Number.isNaN(requested + start + end + observed)) return null;
  const minutes = minutesOld(reading, { requested, start, end, observed });
  return {
    observedAt: new Date(observed).toISOString(),
    requestedAt: new Date(requested).toISOString(),
    ageMinutes: minutes === null ? null : Math.round(minutes * 10) / 10,
    temporalMatch: matchOf(reading, minutes),
  };
}

interface Times {
  readonly requested: number;
  readonly start: number;
  readonly end: number;
  readonly observed: number;
}

function minutesOld(reading: GridReading, times: Times): number | null {
  if (reading.signal === 'forecast' || reading.temporalMatch === 'forecast') return null;
  if (times.start <= times.requested && times.requested < times.end) return 0;
  return times.observed > times.requested ? null : (times.requested - times.observed) / msPerMinute;
}

function matchOf(reading: GridReading, minutes: number | null): TemporalMatch {
  if (reading.signal === 'annual') return 'annual_fallback';
  if (minutes === null) return 'forecast';
  const stated = reading.temporalMatch;
  if (stated === 'prior_week' || stated === 'annual_fallback' || stated === 'none') return stated;
  if (minutes <= liveWindowMinutes) return 'live_window';
  return minutes <= freshMinutes ? 'fresh' : 'none';
}
