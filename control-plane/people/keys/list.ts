/** The keys of an account, page by page: the cursor is a place in the order, so a key that is issued meanwhile shifts nothing. */
import type { KeyListQuery, KeyObject } from '@gw/contract/keys';
import { Prisma } from '@gw/prisma/client';
import type { Context } from '../../shared/context.ts';
import { findKeyRow, type KeyRow, keyColumns, keyObject, keyTables } from './key-row.ts';

export interface KeyPage {
  readonly data: readonly KeyObject[];
  readonly hasMore: boolean;
}

/** Null: there is no key `query.after`. */
export async function listKeys(
  { db, now }: Pick<Context, 'db' | 'now'>,
  accountId: string,
  { after, limit, order }: KeyListQuery,
): Promise<KeyPage | null> {
  const from = after === undefined ? undefined : await findKeyRow(db, accountId, after);
  if (from === null) return null;
  const ascending = order === 'asc';
  const place = from
    ? Prisma.sql`AND (k.created_at, k.public_id) ${Prisma.raw(ascending ? '>' : '<')} (${from.created_at}, ${from.public_id})`
    : Prisma.empty;
  const direction = Prisma.raw(ascending ? 'ASC' : 'DESC');
  const rows = await db.$queryRaw<KeyRow[]>`
    SELECT ${keyColumns} FROM ${keyTables} WHERE k.account_id = ${accountId} ${place}
    ORDER BY k.created_at ${direction}, k.public_id ${direction} LIMIT ${limit + 1}`;
  return { data: rows.slice(0, limit).map((row) => keyObject(row, now())), hasMore: rows.length > limit };
}
