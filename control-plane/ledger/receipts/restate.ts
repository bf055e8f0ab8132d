/**
 * Restates receipts: when the grid value of an interval is settled, or settled anew, the receipts of that interval
 * which were made with another number get a version with it. Energy and tier stay; the carbon is computed anew, by the
 * methodology that made the receipt.
 *
 * Invariant: an interval is looked through completely at least once after everything that could concern it was
 * committed, by any number of instances, of which any may die. A receipt that has the settled number is left alone, so
 * that there is no loop, and each version is made once (supersede.ts).
 */
import { assess, type GridReading } from '@gw/methodology/assess';
import { findMethodology } from '@gw/methodology/methodologies';
import { type Database, Prisma } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import type { ZoneSource } from '../grid/config.ts';
import { claim, finish, type Interval, renew, servesMs } from './interval-claims.ts';
import { newest } from './ledger.ts';
import { parseRow, type StoredReceipt } from './newest-rows.ts';
import { readRows, storedColumns } from './read-rows.ts';
import { gridReplacement, type StoredFacts } from './revision.ts';
import type { LedgerRow } from './seal.ts';
import type { Seals } from './sealed-rows.ts';
import { type SettledReading, settledFor, settledReadings } from './settled-grid.ts';
import { type NewVersion, supersede } from './supersede.ts';
import { genuineWhole, type WholeRow } from './whole-facts.ts';

export interface RestateOptions {
  readonly db: Database;
  readonly sources: readonly ZoneSource[];
  /** Whether a source also restates what stood in before it was configured (settled-grid.ts). */
  readonly restatesEarlier: boolean;
  readonly now: () => Date;
  readonly log: Logger;
  readonly seals: Seals;
  /** Ends the run after the batch that it is at. */
  readonly signal: AbortSignal;
  /** Called after each batch that made versions, with their number. */
  readonly onRestated: (count: number) => void;
}

/** A place in the order in which the receipts of a zone are gone through. */
interface PagePosition {
  readonly createdAt: Date;
  readonly id: string;
}

/** Receipts of a zone that one statement goes through at most, so that none comes near its time limit. */
const pageSize = 5000;
const batchSize = 200;
const raceTries = 5;

/** Looks through every interval that is due. Throws if Postgres is away; what was begun is then due again. */
export async function restateDue(options: RestateOptions): Promise<void> {
  const { db, log, signal } = options;
  while (!signal.aborted) {
    const interval = await claim(db);
    if (interval === null) return;
    const { held, isWhole, restated } = await lookThrough(options, interval);
    if (signal.aborted) return;
    // A reading that is unavailable now is looked for again when the claim is over.
    if (held !== null && isWhole) await finish(db, held);
    const { zone, periodStart, periodEnd } = interval;
    if (restated > 0) log.info({ zone, periodStart, periodEnd, restated }, 'restated receipts from settled grid data');
  }
}

/** The outcome for an interval, or for a page of it. */
interface LookOutcome {
  /** How many versions were made. */
  readonly restated: number;
  /** Whether all of its rows could be read. */
  readonly isWhole: boolean;
}

/** `held`: the claim as it is in the end, which is null if it was lost. */
async function lookThrough(
  options: RestateOptions,
  interval: Interval,
): Promise<LookOutcome & { readonly held: Interval | null }> {
  const { db, signal } = options;
  const until = new Date(interval.periodEnd.getTime() + servesMs);
  const readings = await settledReadings(db, interval.zone, interval.periodStart, until);
  let held: Interval | null = interval;
  let restated = 0;
  let isWhole = true;
  for (let from: PagePosition | null = { createdAt: interval.periodStart, id: '' }; from !== null; ) {
    const to: PagePosition | null = await endOfPage(db, interval.zone, from, until);
    const page = await lookThroughPage(options, interval, readings, from, to ?? { createdAt: until, id: '' });
    restated += page.restated;
    isWhole &&= page.isWhole;
    if (to !== null) held = await renew(db, interval);
    if (signal.aborted || held === null) break;
    interval = held;
    from = to;
  }
  return { held, isWhole, restated };
}

/** Returns the last receipt of a full page; null if fewer receipts are left before `until`. */
async function endOfPage(db: Database, zone: string, from: PagePosition, until: Date): Promise<PagePosition | null> {
  const rows = await db.$queryRaw<PagePosition[]>`
    SELECT r.id, r.created_at AS "createdAt" FROM receipts r
    WHERE r.body ->> 'grid_zone' = ${zone} AND r.tier <> 'degraded' AND r.created_at < ${until}
      AND r.created_at >= ${from.createdAt} AND (r.created_at, r.id) > (${from.createdAt}::timestamptz, ${from.id})
    ORDER BY r.created_at, r.id OFFSET ${pageSize - 1} LIMIT 1`;
  return rows[0] ?? null;
}

/** The receipts after `from`, up to and including `to`. */
async function lookThroughPage(
  options: RestateOptions,
  { zone, periodStart, periodEnd }: Interval,
  readings: readonly SettledReading[],
  from: PagePosition,
  to: PagePosition,
): Promise<LookOutcome> {
  const { db, signal, onRestated } = options;
  const reached = readings.filter(
    (reading) => +reading.periodStart === +periodStart && +reading.periodEnd === +periodEnd,
  );
  const settledAlready = reached.map(({ source, gPerKwh }) => `${source} ${gPerKwh}`);
  let restated = 0;
  let isWhole = true;
  let races = 0;
  for (let after = from; !signal.aborted; ) {
    // OFFSET 0 keeps the planner from looking for the grid value once for each use of it. After the end of the interval,
    // only what was made with its value concerns it. Half a character, which only somebody with the database can have put
    // into the facts or a part of them, would fail the whole statement: where one can be, the facts are looked at here.
    const rows = await readRows(
      db,
      Prisma.sql`
      SELECT ${storedColumns}
      FROM receipts r CROSS JOIN LATERAL (
        SELECT CASE WHEN position('\\u' IN r.facts::text) = 0 THEN facts_part(r.facts, 'grid') END AS used OFFSET 0) g
      WHERE r.body ->> 'grid_zone' = ${zone} AND r.tier <> 'degraded'
        AND r.created_at >= ${after.createdAt} AND (r.created_at, r.id) > (${after.createdAt}::timestamptz, ${after.id})
        AND r.created_at <= ${to.createdAt} AND (r.created_at, r.id) <= (${to.createdAt}::timestamptz, ${to.id})
        AND CASE WHEN position('\\u' IN g.used::text) = 0 THEN
          (r.created_at < ${periodEnd} OR g.used ->> 'periodStart' = ${periodStart.toISOString()})
          AND concat(g.used ->> 'source', ' ', g.used ->> 'gPerKwh') <> ALL (${settledAlready}) ELSE TRUE END
        AND ${newest}
      ORDER BY r.created_at, r.id LIMIT ${batchSize}`,
    );
    isWhole &&= rows.every(({ unreadable }) => unreadable === undefined);
    const versions = (await genuineWhole(options, rows)).flatMap((row) => tried(row, readings, options) ?? []);
    const made = await supersede(db, versions, options.seals);
    restated += made.size;
    if (made.size > 0) onRestated(made.size);
    // Somebody else made a version of one of them meanwhile: that one is looked at instead.
    if (made.size < versions.length && races++ < raceTries) continue;
    races = 0;
    const last = rows.at(-1);
    if (last === undefined || rows.length < batchSize) break;
    after = { createdAt: last.created_at, id: last.id };
  }
  return { restated, isWhole };
}

/** One receipt that nobody can read must not hold up the others of its interval. */
function tried(
  row: WholeRow<LedgerRow>,
  readings: readonly SettledReading[],
  options: RestateOptions,
): NewVersion | null {
  try {
    return restated(parseRow(row), readings, options);
  } catch (error) {
    options.log.error({ receipt: row.id, err: error }, 'a receipt could not be checked for restatement');
    return null;
  }
}

/** Returns the version that the settled reading makes of a receipt; null if it changes nothing, or cannot be made. */
export function restated(
  { receipt, facts }: StoredReceipt,
  readings: readonly SettledReading[],
  options: Pick<RestateOptions, 'sources' | 'restatesEarlier' | 'now' | 'log'>,
): NewVersion | null {
  const { now, log } = options;
  const method = receipt.methodology === null ? null : findMethodology(receipt.methodology);
  if (!facts?.grid || method === null) return null;
  const used = { createdAt: new Date(receipt.created_at), match: receipt.grid_temporal_match, grid: facts.grid };
  const settled = settledFor(used, readings, options);
  if (settled === null) return null;
  const restatedFacts: StoredFacts = {
    ...facts,
    grid: gridOf(settled, facts.grid),
    revision: {
      reason: 'restated',
      at: now().toISOString(),
      completed: [],
      catalogue_version: null,
      grid: gridReplacement(facts.grid, settled),
    },
  };
  const assessment = assess(restatedFacts, method.id);
  // The lineage is not made here: that takes a hundred times as long as the rest, and only the intensity is another.
  if (!assessment.ok || assessment.impact.tier !== receipt.tier || assessment.impact.energy_wh !== receipt.energy_wh) {
    log.error({ receipt: receipt.id }, 'a receipt cannot be restated: its facts do not reproduce its energy');
    return null;
  }
  return { current: receipt, numbers: assessment.impact, facts: restatedFacts };
}

/** Returns the grid value of the new facts. Water is that of the old ones: it depends on the zone alone. */
function gridOf(settled: SettledReading, { waterLPerKwh, waterSource }: GridReading) {
  const { zone, gPerKwh, source, basis } = settled;
  return {
    zone,
    gPerKwh,
    source,
    signal: 'average' as const,
    periodStart: settled.periodStart.toISOString(),
    periodEnd: settled.periodEnd.toISOString(),
    observedAt: settled.observedAt.toISOString(),
    temporalMatch: null,
    waterLPerKwh,
    ...(waterSource !== undefined && { waterSource }),
    basis,
    isEstimated: false,
    replySha256: settled.rawSha256,
    fetchedAt: settled.fetchedAt.toISOString(),
  };
}
