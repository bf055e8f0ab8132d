/**
 * Receipts that are stored after the grid values that they should have had were settled: from a backlog, from the disk of
 * a sidecar, or made with a catalogue that was a moment old.
 *
 * Invariant: an interval is noted whenever a stored receipt lacks its settled value, and only then, so that the steady
 * stream of receipts notes nothing.
 */
import { gridReadingSchema } from '@gw/contract/internal/snapshot';
import type { Queryable } from '@gw/prisma/client';
import type { ReceiptRow } from './entry-row.ts';

const dayMs = 86_400_000;

interface Used {
  readonly created_at: string;
  readonly zone: string;
  readonly period_start: string;
  readonly period_end: string;
  readonly g_per_kwh: number;
}

/** Notes the intervals for the restatement to look at. Idempotent. */
export async function noteLateReceipts(db: Queryable, rows: readonly ReceiptRow[]): Promise<void> {
  const used = rows.flatMap(gridUsed);
  if (used.length === 0) return;
  await db.$executeRaw`
    INSERT INTO restatements (zone, period_start, period_end)
    SELECT DISTINCT g.zone, g.period_start, g.period_end
    FROM json_to_recordset(${JSON.stringify(used)}::json) AS e (
      created_at timestamptz, zone text, period_start timestamptz, period_end timestamptz, g_per_kwh float8)
    -- Two conditions that the index on zone and end can serve: the interval of the call, and the one that was used.
    JOIN grid_readings g ON g.zone = e.zone AND g.period_end >= e.period_end
      AND g.period_end <= e.created_at + INTERVAL '1 day'
      AND ((g.period_start <= e.created_at AND g.period_end > e.created_at)
        OR (g.period_start, g.period_end) = (e.period_start, e.period_end))
    WHERE g.kind = 'average' AND g.settled AND g.g_per_kwh <> e.g_per_kwh
      AND NOT EXISTS (
        SELECT 1 FROM grid_readings n
        WHERE (n.zone, n.source, n.place, n.kind, n.period_start, n.period_end)
          = (g.zone, g.source, g.place, g.kind, g.period_start, g.period_end)
          AND n.settled AND n.revision > g.revision)
    ON CONFLICT (zone, period_start, period_end)
      DO UPDATE SET noted_at = CURRENT_TIMESTAMP, due_at = CURRENT_TIMESTAMP`;
}

/** Nothing for what was made without a grid value, or is not readable: such a receipt is stored all the same. */
function gridUsed({ created_at, facts, tier }: ReceiptRow): Used[] {
  if (tier === 'degraded' || typeof facts !== 'object' || facts === null || !('grid' in facts)) return [];
  const grid = gridReadingSchema.safeParse(facts.grid).data;
  if (grid === undefined) return [];
  const created = Date.parse(created_at);
  const [start, end] = [Date.parse(grid.periodStart), Date.parse(grid.periodEnd)];
  if (Number.isNaN(start + end)) return [];
  // Last week's value or the year's: only the interval of the call can take its place.
  const [from, to] = created - end > dayMs ? [created, created] : [start, end];
  const period = { period_start: new Date(from).toISOString(), period_end: new Date(to).toISOString() };
  return [{ created_at, zone: grid.zone, ...period, g_per_kwh: grid.gPerKwh }];
}
