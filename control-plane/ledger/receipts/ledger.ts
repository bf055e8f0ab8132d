/**
 * The ledger of an account, page by page. A receipt is listed once, in its newest version or in its first.
 *
 * Invariant: what is listed is genuine. A receipt that is not is named in its place, so that it hides no other one.
 */
import { dayMs } from '@gw/contract/internal/durations';
import type { CountedVersion, LedgerQuery } from '@gw/contract/management';
import { Prisma } from '@gw/prisma/client';
import type { Context } from '../../shared/context.ts';
import { readRows, storedColumns } from './read-rows.ts';
import { timeOfReceipt } from './receipt-id.ts';
import type { LedgerRow } from './seal.ts';
import type { Seals } from './sealed-rows.ts';

export interface LedgerPage {
  readonly rows: readonly { readonly id: string; readonly json: string }[];
  readonly hasMore: boolean;
  /** Rows of this page that are not what the gateway has stored. */
  readonly altered: readonly { readonly id: string; readonly version: number }[];
  /** The first and last receipt of the page, altered ones included; null if the page is empty. */
  readonly firstId: string | null;
  readonly lastId: string | null;
}

/** Returns one page. The cursor is a place in the order, so rows that arrive meanwhile do not shift the pages. */
export async function ledgerPage(
  { db, seals }: Pick<Context, 'db'> & { readonly seals: Seals },
  accountId: string,
  query: LedgerQuery,
): Promise<LedgerPage> {
  const rows: LedgerRow[] = [];
  for (const window of windowsOf(query)) {
    rows.push(...(await rowsIn(db, accountId, query, window, query.limit + 1 - rows.length)));
    if (rows.length > query.limit) break;
  }
  const page = rows.slice(0, query.limit);
  const faults = await seals.check(page);
  return {
    rows: page.flatMap(({ body, id }, at) => (faults[at] === null ? { id, json: body } : [])),
    altered: page.flatMap(({ id, version }, at) => (faults[at] === null ? [] : { id, version })),
    hasMore: rows.length > query.limit,
    firstId: page[0]?.id ?? null,
    lastId: page.at(-1)?.id ?? null,
  };
}

/** It includes `from` and excludes `to`; null: it is open on that side. */
interface Window {
  readonly from: Date | null;
  readonly to: Date | null;
}

/** How much of the time of the ledger a page is looked for in first. */
const nearMs = 62 * dayMs;

/**
 * Two windows that follow each other in the order of the page: a question that names no time is planned for, and asked of, each month
 * that there is.
 */
function windowsOf({ after, order }: Pick<LedgerQuery, 'after' | 'order'>): readonly Window[] {
  const cursorTime = after === undefined ? null : timeOfReceipt(after);
  const begin = (cursorTime ?? new Date()).getTime();
  if (order === 'desc') {
    const near = new Date(begin - nearMs);
    return [
      { from: near, to: null },
      { from: null, to: near },
    ];
  }
  // Nobody knows when the first one of an account was.
  if (cursorTime === null) return [{ from: null, to: null }];
  const near = new Date(begin + nearMs);
  return [
    { from: cursorTime, to: near },
    { from: near, to: null },
  ];
}

function rowsIn(
  db: Context['db'],
  accountId: string,
  { after, model, order, project, region, version }: LedgerQuery,
  window: Window,
  limit: number,
): Promise<LedgerRow[]> {
  const direction = order === 'asc' ? Prisma.raw('ASC') : Prisma.raw('DESC');
  const conditions = [Prisma.sql`r.account_id = ${accountId}`, ...within('r', window)];
  if (model !== undefined) conditions.push(Prisma.sql`r.model = ${model}`);
  if (region !== undefined) conditions.push(Prisma.sql`r.region = ${region}`);
  if (project !== undefined) conditions.push(Prisma.sql`r.body ->> 'project' = ${project}`);
  const cursorTime = after === undefined ? null : timeOfReceipt(after);
  if (cursorTime !== null) {
    const comparison = Prisma.raw(order === 'asc' ? '>' : '<');
    conditions.push(Prisma.sql`(r.created_at, r.id) ${comparison} (${cursorTime}::timestamptz, ${after})`);
    // The time alone tells Postgres which months to look in.
    conditions.push(Prisma.sql`r.created_at ${comparison}= ${cursorTime}::timestamptz`);
  }
  return readRows(
    db,
    Prisma.sql`
    SELECT ${storedColumns} FROM receipts r
    WHERE ${Prisma.join(conditions, ' AND ')} AND ${counted(version, within('n', window))}
    ORDER BY r.created_at ${direction}, r.id ${direction}
    LIMIT ${limit}`,
  );
}

/** Said of both, since the database does not infer it of the one from the other. */
function within(table: 'r' | 'n', { from, to }: Window): Prisma.Sql[] {
  const column = Prisma.raw(`${table}.created_at`);
  return [
    ...(from === null ? [] : [Prisma.sql`${column} >= ${from}::timestamptz`]),
    ...(to === null ? [] : [Prisma.sql`${column} < ${to}::timestamptz`]),
  ];
}

/** The condition, in a query over `receipts r`, for the version of each receipt that counts. */
export const counted = (version: CountedVersion, ofNewer: readonly Prisma.Sql[] = []): Prisma.Sql =>
  version === 'issued' ? Prisma.sql`r.version = 1` : newestAmong(ofNewer);

/** `ofNewer`: what is known of `n`, a newer version of the same moment. */
const newestAmong = (ofNewer: readonly Prisma.Sql[]): Prisma.Sql => Prisma.sql`NOT EXISTS (
  SELECT 1 FROM receipts n WHERE ${Prisma.join(
    [Prisma.sql`n.id = r.id AND n.created_at = r.created_at AND n.version > r.version`, ...ofNewer],
    ' AND ',
  )})`;

/** The condition, in a query over `receipts r`, for the newest version of each receipt. */
export const newest = newestAmong([]);
