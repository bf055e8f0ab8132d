/**
 * Receipts that are stored after the grid values that they should have had were settled: from a backlog, from the disk
 * of a sidecar, made with a catalogue that was a moment old, or made anew by a job from what was known at the call.
 *
 * Invariant: an interval is noted whenever a stored receipt lacks the settled value that `settledFor` would give it, and
 * otherwise only for one that came late and was made before the source was configured; so the steady stream notes nothing.
 */
import { dayMs } from '@gw/contract/internal/durations';
import { gridReadingSchema } from '@gw/contract/internal/snapshot';
import { Prisma, type Queryable } from '@gw/prisma/client';
import { isStandIn } from './settled-grid.ts';

/** The stored form of a receipt. `body` and `facts` are not validated. */
export interface StoredNumbers {
  readonly created_at: string;
  readonly tier: string;
  readonly body: unknown;
  readonly facts: unknown;
}

interface Used {
  readonly created_at: string;
  readonly zone: string;
  readonly source: string;
  /** True if it stood in for a source that was silent: then the settled value of any source can replace it. */
  readonly stands_in: boolean;
  readonly period_start: string;
  readonly period_end: string;
  readonly g_per_kwh: number;
}

/** Notes the intervals whose receipts may have to be restated, by the grid values that they use. Doing it again is safe. */
export async function noteGridUses(db: Queryable, uses: readonly string[]): Promise<void> {
  const noting = notingOf(uses);
  if (noting !== null) await db.$executeRaw`${noting}`;
}

/** Returns the statement that notes them, alone or as part of another one; null if there are none. */
export function notingOf(uses: readonly string[]): Prisma.Sql | null {
  // Calls of one second mostly are alike.
  const used = [...new Set(uses)];
  if (used.length === 0) return null;
  // In the order of `settledFor`: the interval of the call before the one that was used, its own source before others. Which
  // of the others is preferred is not known here: one with another number is reason enough to look.
  return Prisma.sql`
    INSERT INTO restatements (zone, period_start, period_end)
    SELECT DISTINCT e.zone, settled.period_start, settled.period_end
    FROM json_to_recordset(${`[${used.join()}]`}::json) AS e (created_at timestamptz, zone text, source text,
      stands_in boolean, period_start timestamptz, period_end timestamptz, g_per_kwh float8)
    CROSS JOIN LATERAL (
      SELECT g.period_start, g.period_end, g.g_per_kwh FROM grid_readings g
      -- The bounds of the index on zone and end.
      WHERE g.zone = e.zone AND g.period_end >= e.period_end AND g.period_end <= e.created_at + INTERVAL '1 day'
        AND g.kind = 'average' AND g.settled AND (
          (g.period_start <= e.created_at AND g.period_end > e.created_at AND (g.source = e.source OR e.stands_in))
          OR ((g.period_start, g.period_end) = (e.period_start, e.period_end) AND g.source = e.source))
      ORDER BY g.period_start <= e.created_at AND g.period_end > e.created_at DESC, g.source = e.source DESC,
        g.source <> e.source AND g.g_per_kwh = e.g_per_kwh, g.source, g.place, g.period_start, g.period_end, g.revision DESC
      LIMIT 1
    ) settled
    WHERE settled.g_per_kwh <> e.g_per_kwh
    ON CONFLICT (zone, period_start, period_end)
      DO UPDATE SET noted_at = CURRENT_TIMESTAMP, due_at = CURRENT_TIMESTAMP`;
}

/** Kept by what they are made of, since calls of one second are mostly alike. */
const known = new Map<string, string | null>();
const mostKnown = 1000;

/**
 * Returns the grid value that a receipt was made with, as JSON. Null for one that was made without, or is not readable: such a
 * receipt is stored all the same.
 */
export function gridUsed({ body, created_at, facts, tier }: StoredNumbers): string | null {
  if (tier === 'degraded' || typeof facts !== 'object' || facts === null || !('grid' in facts)) return null;
  const created = Math.floor(Date.parse(created_at) / 1000) * 1000;
  const standsIn = isStandIn(matchOf(body));
  const key = `${created} ${standsIn} ${textOf(facts.grid)}`;
  let used = known.get(key);
  if (used === undefined) {
    used = usedText(facts.grid, created, standsIn);
    if (known.size >= mostKnown) known.clear();
    known.set(key, used);
  }
  return used;
}

/** Entries of one hour share their reading (readFacts). */
const texts = new WeakMap<object, string>();

function textOf(grid: unknown): string {
  if (typeof grid !== 'object' || grid === null) return JSON.stringify(grid);
  const found = texts.get(grid) ?? JSON.stringify(grid);
  texts.set(grid, found);
  return found;
}

function usedText(value: unknown, created: number, stands_in: boolean): string | null {
  const grid = gridReadingSchema.safeParse(value).data;
  if (grid === undefined) return null;
  const [start, end] = [Date.parse(grid.periodStart), Date.parse(grid.periodEnd)];
  if (Number.isNaN(start + end)) return null;
  // Last week's value or the year's: only the interval of the call can take its place.
  const [from, to] = created - end > dayMs ? [created, created] : [start, end];
  const used: Used = {
    created_at: new Date(created).toISOString(),
    zone: grid.zone,
    source: grid.source,
    stands_in,
    period_start: new Date(from).toISOString(),
    period_end: new Date(to).toISOString(),
    g_per_kwh: grid.gPerKwh,
  };
  return JSON.stringify(used);
}

const matchOf = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && 'grid_temporal_match' in body ? body.grid_temporal_match : null;
