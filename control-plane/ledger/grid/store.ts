/**
 * The history of grid readings in Postgres.
 *
 * Invariant: nothing is ever overwritten. The same value again adds nothing; another value for the same period, or the
 * same one now settled, is a new revision. Two instances that store the same reply at once store it once.
 */
import type { Queryable } from '@gw/prisma/client';
import type { GridObservation } from './reading.ts';

/** Stores readings; returns how many revisions were new. A reply that was fetched before the stored one adds none. */
export function storeReadings(db: Queryable, readings: readonly GridObservation[]): Promise<number> {
  return db.$executeRaw`
    INSERT INTO grid_readings (zone, source, place, kind, period_start, period_end, revision, signal, basis, g_per_kwh,
      is_estimated, settled, observed_at, fetched_at, raw_sha256)
    SELECT n."zone", n."source", n."place", n."kind", n."periodStart", n."periodEnd", COALESCE(last.revision, 0) + 1,
      n."signal", n."basis", n."gPerKwh", n."isEstimated", n."settled", n."observedAt", n."fetchedAt", n."rawSha256"
    FROM jsonb_to_recordset(${JSON.stringify(readings)}::jsonb) AS n("zone" TEXT, "source" TEXT, "place" TEXT,
      "kind" TEXT, "periodStart" TIMESTAMPTZ(3), "periodEnd" TIMESTAMPTZ(3), "signal" TEXT, "basis" TEXT,
      "gPerKwh" DOUBLE PRECISION, "isEstimated" BOOLEAN, "settled" BOOLEAN, "observedAt" TIMESTAMPTZ(3),
      "fetchedAt" TIMESTAMPTZ(3), "rawSha256" TEXT)
    LEFT JOIN LATERAL (
      SELECT * FROM grid_readings g
      WHERE (g.zone, g.source, g.place, g.kind) = (n."zone", n."source", n."place", n."kind")
        AND (g.period_start, g.period_end) = (n."periodStart", n."periodEnd")
      ORDER BY g.revision DESC LIMIT 1
    ) last ON TRUE
    -- A reply that was overtaken by a later one is not news.
    WHERE last.revision IS NULL OR (last.fetched_at <= n."fetchedAt"
      AND (last.signal, last.basis, last.g_per_kwh, last.is_estimated, last.settled, last.observed_at) IS DISTINCT FROM
        (n."signal", n."basis", n."gPerKwh", n."isEstimated", n."settled", n."observedAt"))
    ON CONFLICT DO NOTHING`;
}

/** The newest revision of a reading, with the fields that the choice needs. */
export type StoredReading = Pick<
  GridObservation,
  | 'zone'
  | 'source'
  | 'place'
  | 'kind'
  | 'signal'
  | 'basis'
  | 'gPerKwh'
  | 'isEstimated'
  | 'periodStart'
  | 'periodEnd'
  | 'observedAt'
  | 'fetchedAt'
  | 'rawSha256'
>;

/**
 * Returns the readings whose period has begun and ended less than 24 hours ago or has not ended, and those of this time
 * a week ago. No period lasts a day, which bounds what is read, however long the history is.
 */
export function recentReadings(db: Queryable, zones: readonly string[], now: Date): Promise<StoredReading[]> {
  return db.$queryRaw<StoredReading[]>`
    SELECT DISTINCT ON (zone, source, place, kind, period_start, period_end) zone, source, place, kind, signal, basis,
      g_per_kwh AS "gPerKwh", is_estimated AS "isEstimated", period_start AS "periodStart", period_end AS "periodEnd",
      observed_at AS "observedAt", fetched_at AS "fetchedAt", raw_sha256 AS "rawSha256"
    FROM grid_readings
    WHERE zone = ANY(${zones}) AND (
      (period_end > ${now}::timestamptz - INTERVAL '24 hours' AND period_start <= ${now}::timestamptz
        AND period_end <= ${now}::timestamptz + INTERVAL '1 day')
      OR (period_end > ${now}::timestamptz - INTERVAL '7 days' AND period_start <= ${now}::timestamptz - INTERVAL '7 days'
        AND period_end <= ${now}::timestamptz - INTERVAL '6 days'))
    ORDER BY zone, source, place, kind, period_start, period_end, revision DESC`;
}
