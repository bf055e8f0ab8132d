/**
 * The ledger of an account, page by page. A receipt is listed once, in its newest version or in its first.
 *
 * Invariant: what is listed is genuine. A receipt that is not is named in its place, so that it hides no other one.
 */
import type { CountedVersion, LedgerQuery } from '@gw/contract/management';
import { Prisma } from '@gw/prisma/client';
import type { Context } from '../../shared/context.ts';
import { timeOfReceipt } from './receipt-id.ts';
import type { LedgerRow } from './seal.ts';
import { type Seals, storedColumns } from './sealed-rows.ts';

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
  const ascending = query.order === 'asc';
  const direction = ascending ? Prisma.raw('ASC') : Prisma.raw('DESC');
  const conditions = [Prisma.sql`r.account_id = ${accountId}`];
  if (query.model !== undefined) conditions.push(Prisma.sql`r.model = ${query.model}`);
  if (query.region !== undefined) conditions.push(Prisma.sql`r.region = ${query.region}`);
  if (query.project !== undefined) conditions.push(Prisma.sql`r.body ->> 'project' = ${query.project}`);
  const cursorTime = query.after === undefined ? null : timeOfReceipt(query.after);
  if (cursorTime !== null) {
    const comparison = Prisma.raw(ascending ? '>' : '<');
    conditions.push(Prisma.sql`(r.created_at, r.id) ${comparison} (${cursorTime}::timestamptz, ${query.after})`);
  }
  const rows = await db.$queryRaw<LedgerRow[]>`
    SELECT ${storedColumns} FROM receipts r
    WHERE ${Prisma.join(conditions, ' AND ')} AND ${counted(query.version)}
    ORDER BY r.created_at ${direction}, r.id ${direction}
    LIMIT ${query.limit + 1}`;
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

/** The condition, in a query over `receipts r`, for the version of each receipt that counts. */
export const counted = (version: CountedVersion): Prisma.Sql =>
  version === 'issued' ? Prisma.sql`r.version = 1` : newest;

/** The condition, in a query over `receipts r`, for the newest version of each receipt. */
export const newest = Prisma.sql`NOT EXISTS (
  SELECT 1 FROM receipts n WHERE n.id = r.id AND n.created_at = r.created_at AND n.version > r.version)`;
