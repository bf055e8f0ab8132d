/** The version that stands in for a newer one that is not what the gateway has stored. */
import { Prisma, type Queryable } from '@gw/prisma/client';
import { readRows, storedColumns } from './read-rows.ts';
import type { LedgerRow } from './seal.ts';
import type { Seals } from './sealed-rows.ts';

/** Versions that are looked at: nobody corrects a receipt more often, and somebody with the database can have added any number. */
const most = 20;

interface OlderVersion {
  readonly row: LedgerRow;
  /** The versions behind it, none of which is genuine. */
  readonly altered: readonly number[];
}

/** Returns the newest genuine version in front of a row that is not; null if there is none. What it finds altered is reported. */
export async function genuineBefore(
  { db, seals }: { readonly db: Queryable; readonly seals: Seals },
  { account_id, created_at, id, version }: LedgerRow,
): Promise<OlderVersion | null> {
  const rows = await readRows(
    db,
    Prisma.sql`
    SELECT ${storedColumns} FROM receipts r
    WHERE r.id = ${id} AND r.created_at = ${created_at} AND r.account_id = ${account_id} AND r.version < ${version}
    ORDER BY r.version DESC LIMIT ${most}`,
  );
  const faults = await seals.check(rows);
  const at = faults.indexOf(null);
  const row = rows[at];
  return row === undefined ? null : { row, altered: [version, ...rows.slice(0, at).map((each) => each.version)] };
}
