/**
 * Chooses the reading of a grid zone for a given time.
 *
 * Invariant: the choice depends on the time of the call and not on that of the snapshot, so an old value never counts as current
 * while the control plane is unavailable.
 */
import { dayMs, minuteMs } from './durations.ts';
import type { Snapshot, SnapshotGridReading } from './snapshot.ts';

/** The age, ms, beyond which a measured value is less accurate than the yearly average. */
export const freshMs = 120 * minuteMs;
const weekMs = 7 * dayMs;

/** Returns the zone's reading if it fits the time, otherwise the yearly average, otherwise the reading; null without either. */
export function gridReadingFor(
  { grid, gridFloor }: Pick<Snapshot, 'grid' | 'gridFloor'>,
  zone: string,
  requestedAt: Date,
): SnapshotGridReading | null {
  const isOfZone = (reading: SnapshotGridReading): boolean => reading.zone === zone;
  const best = grid.find(isOfZone) ?? null;
  if (best !== null && fits(best, requestedAt.getTime())) return best;
  return gridFloor.find(isOfZone) ?? best;
}

/**
 * Returns the times (ms since 1970, `until` exclusive) for which the reading is live: a measured value until it is 120 minutes old, a
 * forecast during its interval. Null for substitutes, which are never live.
 */
export function liveWindow(reading: SnapshotGridReading): { readonly from: number; readonly until: number } | null {
  if (reading.signal === 'annual' || reading.temporalMatch === 'none' || reading.temporalMatch === 'prior_week')
    return null;
  const from = Date.parse(reading.periodStart);
  const end = Date.parse(reading.periodEnd);
  if (reading.signal === 'forecast') return { from, until: end };
  return { from, until: Math.max(end, Date.parse(reading.observedAt) + freshMs + 1) };
}

/**
 * Whether the reading fits the time `at` (ms since 1970): a live value during its live window, a value of a week ago during its
 * interval, and a yearly average always.
 */
export function fits(reading: SnapshotGridReading, at: number): boolean {
  if (reading.signal === 'annual') return true;
  if (reading.temporalMatch === 'prior_week')
    return Date.parse(reading.periodStart) <= at - weekMs && at - weekMs < Date.parse(reading.periodEnd);
  const live = liveWindow(reading);
  return live !== null && live.from <= at && at < live.until;
}
