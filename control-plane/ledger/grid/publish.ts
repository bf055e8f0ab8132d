/**
 * Makes the catalogue carry the readings that hold now.
 *
 * Invariant: it is one idempotent statement, so any instance may do it at any time; where nothing has changed nothing
 * is written, and the version of the catalogue stays. A source that is no longer configured disappears.
 */
import type { Database } from '@gw/prisma/client';
import type { AnnualReading } from '../../catalogue/snapshot/read.ts';
import { chooseGrid } from './choice.ts';
import type { ZoneSource } from './config.ts';
import { recentReadings } from './store.ts';

export interface PublishOptions {
  readonly db: Database;
  readonly sources: readonly ZoneSource[];
  readonly annualReading: AnnualReading;
  readonly now: () => Date;
}

/** Writes the readings that `chooseGrid` gives for this moment. Rejects if Postgres is away. */
export async function publishGrid({ db, sources, annualReading, now }: PublishOptions): Promise<void> {
  const at = now();
  const zones = [...new Set(sources.map(({ zone }) => zone))];
  const readings = zones.length > 0 ? await recentReadings(db, zones, at) : [];
  const { receipt, routing } = chooseGrid(readings, sources, annualReading, at);
  const rows = [
    ...receipt.map((reading) => ({ use: 'receipt', kind: 'average', ...keyOf(reading), reading })),
    ...routing.map((reading) => ({ use: 'routing', kind: reading.kind, ...keyOf(reading), reading })),
  ];
  await db.$executeRaw`
    WITH desired AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS d("use" TEXT, "zone" TEXT, "source" TEXT, "kind" TEXT, "signal" TEXT, "reading" JSONB)
    ), gone AS (
      DELETE FROM published_grid p WHERE NOT EXISTS (
        SELECT 1 FROM desired d
        WHERE (d."use", d."zone", d."source", d."kind", d."signal") = (p."use", p."zone", p."source", p."kind", p."signal"))
    )
    INSERT INTO published_grid ("use", "zone", "source", "kind", "signal", "reading")
    SELECT "use", "zone", "source", "kind", "signal", "reading" FROM desired
    ON CONFLICT ("use", "zone", "source", "kind", "signal") DO UPDATE SET "reading" = EXCLUDED."reading"
      WHERE published_grid."reading" IS DISTINCT FROM EXCLUDED."reading"`;
}

const keyOf = ({ zone, source, signal }: { zone: string; source: string; signal: string }) => ({
  zone,
  source,
  signal,
});
