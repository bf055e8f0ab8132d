/**
 * Which reading of a zone holds at a given moment.
 *
 * Invariant: it depends on the moment of the call, not on when the snapshot was made, so a control plane that is away
 * never lets an old value pass for a current one.
 */
import { dayMs, minuteMs } from './durations.ts';
import type { Snapshot, SnapshotGridReading } from './snapshot.ts';

/** The age, ms, beyond which a measured value says less about the moment than the yearly average. */
export const freshMs = 120 * minuteMs;
const weekMs = 7 * dayMs;

/**
 * Returns the zone's reading if it fits the moment, else the yearly average, else the reading even so; null if there is
 * neither.
 */
export function gridReadingFor(
  { grid, gridFloor = [] }: Pick<Snapshot, 'grid' | 'gridFloor'>,
  zone: string,
  requestedAt: Date,
): SnapshotGridReading | null {
  const isOfZone = (reading: SnapshotGridReading): boolean => reading.zone === zone;
  const best = grid.find(isOfZone) ?? null;
  if (best !== null && fits(best, requestedAt.getTime())) return best;
  return gridFloor.find(isOfZone) ?? best;
}

/**
 * Returns the moments (ms since 1970, `until` excluded) at which the reading says something of the grid as it is then: a measured
 * value until it is 120 minutes old, a forecast during its interval; null for what stands in for such a value.
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
 * True if the reading fits the moment `at` (ms since 1970): a live value as long as it is that, a value of a week ago during its
 * interval, and a yearly average always.
 */
export function fits(reading: SnapshotGridReading, at: number): boolean {
  if (reading.signal === 'annual') return true;
  if (reading.temporalMatch === 'prior_week')
    return Date.parse(reading.periodStart) <= at - weekMs && at - weekMs < Date.parse(reading.periodEnd);
  const live = liveWindow(reading);
  return live !== null && live.from <= at && at < live.until;
}
