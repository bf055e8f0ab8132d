/** The ledger of an account, page by page. A receipt is listed once, in its newest version or in its first. */
import type { CountedVersion, LedgerQuery } from '@gw/contract/management';
import { type Database, Prisma } from '@gw/prisma/client';
import { timeOfReceipt } from './receipt-id.ts';

export interface LedgerPage {
  readonly rows: readonly { readonly id: string; readonly json: string }[];
  readonly hasMore: boolean;
}

/** Keyset paging: the cursor is a place in the order, so rows that arrive meanwhile shift nothing. */
export async function ledgerPage(db: Database, accountId: string, query: LedgerQuery): Promise<LedgerPage> {
  const ascending = query.order === 'asc';
  const direction = ascending ? Prisma.raw('ASC') : Prisma.raw('DESC');
  const conditions = [Prisma.sql`r.account_id = ${accountId}`];
  if (query.model !== undefined) conditions.push(Prisma.sql`r.model = ${query.model}`);
  if (query.region !== undefined) conditions.push(Prisma.sql`r.region = ${query.region}`);
  const cursorTime = query.after === undefined ? null : timeOfReceipt(query.after);
  if (cursorTime !== null) {
    const comparison = Prisma.raw(ascending ? '>' : '<');
    conditions.push(Prisma.sql`(r.created_at, r.id) ${comparison} (${cursorTime}::timestamptz, ${query.after})`);
  }
  const rows = await db.$queryRaw<{ id: string; json: string }[]>`
    SELECT r.id, r.body::text AS json FROM receipts r
    WHERE ${Prisma.join(conditions, ' AND ')} AND ${counted(query.version)}
    ORDER BY r.created_at ${direction}, r.id ${direction}
    LIMIT ${query.limit + 1}`;
  return { rows: rows.slice(0, query.limit), hasMore: rows.length > query.limit };
}

/** For a query over `receipts r`: the version of each receipt that counts. */
export const counted = (version: CountedVersion): Prisma.Sql =>
  version === 'issued' ? Prisma.sql`r.version = 1` : newest;

/** For a query over `receipts r`. */
export const newest = Prisma.sql`NOT EXISTS (
  SELECT 1 FROM receipts n WHERE n.id = r.id AND n.created_at = r.created_at AND n.version > r.version)`;
