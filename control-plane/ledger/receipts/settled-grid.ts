/**
 * Which settled value takes the place of the one that a receipt was made with.
 *
 * Invariant: a receipt is restated from the source that it was made with. Another configured source serves only where
 * the value stood in for a source that was silent (last week's, the year's, a stale one): one that was heard before the
 * call. A source that was configured later changes no receipt that was made before it, unless an operator says so. The
 * interval of the call comes first; failing that, the interval that the value was for.
 */
import type { SnapshotGridReading } from '@gw/contract/internal/snapshot';
import type { Receipt } from '@gw/contract/receipt';
import type { Queryable } from '@gw/prisma/client';
import { isFrom } from '../grid/choice.ts';
import type { ZoneSource } from '../grid/config.ts';
import type { StoredReading } from '../grid/store.ts';

/** A settled average, in the last settled revision of its interval. */
export interface SettledReading extends StoredReading {
  readonly revision: number;
  /** When this source was first heard at this place: it was configured then. */
  readonly heardFrom: Date;
}

/** The fields in which a receipt states its grid value. */
export interface GridUsed {
  readonly createdAt: Date;
  readonly match: Receipt['grid_temporal_match'];
  readonly grid: Pick<SnapshotGridReading, 'zone' | 'source' | 'gPerKwh' | 'periodStart' | 'periodEnd'>;
}

const standIns: ReadonlySet<unknown> = new Set<Receipt['grid_temporal_match']>([
  'annual_fallback',
  'prior_week',
  'none',
]);

/** Whether the value of such a `grid_temporal_match` stood in for a source that was silent. */
export const isStandIn = (match: unknown): boolean => standIns.has(match);

export interface SettledOptions {
  /** In order of preference. */
  readonly sources: readonly ZoneSource[];
  /** Whether a source also restates what stood in before it was configured. */
  readonly restatesEarlier: boolean;
}

/** Returns null if there is no settled value, or if it is the same number. */
export function settledFor(
  { createdAt, match, grid }: GridUsed,
  readings: readonly SettledReading[],
  { restatesEarlier, sources }: SettledOptions,
): SettledReading | null {
  const ranked = sources.flatMap((source) => readings.filter((reading) => isFrom(source, reading)));
  const inZone = ranked.filter(({ zone }) => zone === grid.zone);
  const own = inZone.filter(({ source }) => source === grid.source);
  const at = createdAt.getTime();
  const others = isStandIn(match) ? inZone.filter(({ heardFrom }) => restatesEarlier || +heardFrom <= at) : [];
  const ofCall = [...own, ...others].find(
    ({ periodStart, periodEnd }) => periodStart.getTime() <= at && at < periodEnd.getTime(),
  );
  const [start, end] = [Date.parse(grid.periodStart), Date.parse(grid.periodEnd)];
  const ofValue = own.find(
    ({ periodStart, periodEnd }) => periodStart.getTime() === start && periodEnd.getTime() === end,
  );
  const settled = ofCall ?? ofValue;
  return settled === undefined || settled.gPerKwh === grid.gPerKwh ? null : settled;
}

/** Returns the settled averages of a zone for intervals that overlap `[from, to)`. */
export function settledReadings(db: Queryable, zone: string, from: Date, to: Date): Promise<SettledReading[]> {
  return db.$queryRaw<SettledReading[]>`
    SELECT DISTINCT ON (source, place, period_start, period_end) zone, source, place, kind, signal, basis,
      g_per_kwh AS "gPerKwh", is_estimated AS "isEstimated", period_start AS "periodStart",
      period_end AS "periodEnd", observed_at AS "observedAt", revision, fetched_at AS "fetchedAt", raw_sha256 AS "rawSha256", (
        -- The first reply is among the first periods, which the primary key finds.
        SELECT min(f.fetched_at) FROM (
          SELECT e.fetched_at FROM grid_readings e
          WHERE (e.zone, e.source, e.place, e.kind) = (g.zone, g.source, g.place, g.kind)
          ORDER BY e.period_start LIMIT 300) f) AS "heardFrom"
    FROM grid_readings g
    WHERE zone = ${zone} AND kind = 'average' AND settled AND period_end > ${from} AND period_start < ${to}
    ORDER BY source, place, period_start, period_end, revision DESC`;
}
