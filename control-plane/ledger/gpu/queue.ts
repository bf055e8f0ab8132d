/**
 * The calls whose counters are still to be read. A trigger on the receipts fills the table; supersede.ts makes the
 * version.
 *
 * Invariant: a row leaves only when its receipt has got what there is to say. A claim is a lease, so that the work of
 * an instance that died is taken up by another.
 */
import type { Receipt } from '@gw/contract/receipt';
import { type Database, Prisma, type Queryable } from '@gw/prisma/client';
import { parseRow, type StoredReceipt } from '../receipts/newest-rows.ts';
import { readRows, storedColumns } from '../receipts/read-rows.ts';
import type { LedgerRow } from '../receipts/seal.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import { genuineWhole } from '../receipts/whole-facts.ts';

/** A call that waits for its counters, with the newest version of its receipt. `attempts` counts this one too. */
export interface WaitingCall extends StoredReceipt {
  readonly id: string;
  readonly deployment: string;
  readonly attempts: number;
}

interface MeasurementRow extends LedgerRow {
  readonly deployment: string;
  readonly attempts: number;
}

/** A claimed batch: the number of calls, and the calls whose receipts are genuine. */
export interface Claimed {
  readonly count: number;
  readonly calls: readonly WaitingCall[];
}

/**
 * Claims at most `count` calls that are due. No other instance gets them before `leaseS` have passed. A call whose
 * receipt is not genuine keeps its lease, and is tried again after it.
 */
export async function claimDue(
  { db, seals }: { readonly db: Database; readonly seals: Seals },
  now: Date,
  count: number,
  leaseS: number,
): Promise<Claimed> {
  const leasedTo = new Date(now.getTime() + leaseS * 1000);
  const rows = await readRows<MeasurementRow>(
    db,
    Prisma.sql`
    WITH due AS (
      SELECT receipt_id FROM gpu_measurements WHERE due_at <= ${now}
      ORDER BY due_at LIMIT ${count} FOR UPDATE SKIP LOCKED
    ), claimed AS (
      UPDATE gpu_measurements m SET due_at = ${leasedTo}, attempts = m.attempts + 1
      FROM due WHERE m.receipt_id = due.receipt_id
      RETURNING m.receipt_id, m.created_at, m.deployment, m.attempts
    )
    SELECT DISTINCT ON (c.receipt_id) ${storedColumns}, c.deployment, c.attempts
    FROM claimed c JOIN receipts r ON r.id = c.receipt_id AND r.created_at = c.created_at
    ORDER BY c.receipt_id, r.version DESC`,
  );
  const calls = (await genuineWhole({ db, seals }, rows)).map(({ attempts, deployment, id, ...row }) => ({
    attempts,
    deployment,
    id,
    ...parseRow(row),
  }));
  return { count: rows.length, calls };
}

/** Puts receipts back into `recalculations` that are degraded even with their energy: `supersede` took them out. */
export async function noteRecalculations(db: Queryable, receipts: readonly Receipt[]): Promise<void> {
  const rows = receipts.map(({ id, created_at }) => ({ id, created_at }));
  if (rows.length === 0) return;
  await db.$executeRaw`
    INSERT INTO recalculations (receipt_id, created_at)
    SELECT w.id, w.created_at FROM json_to_recordset(${JSON.stringify(rows)}::json) AS w (id text, created_at timestamptz)
    ON CONFLICT (receipt_id) DO NOTHING`;
}

/** Removes calls that have their verdict. */
export async function removeWaiting(db: Queryable, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await db.$executeRaw`DELETE FROM gpu_measurements WHERE receipt_id IN (${Prisma.join(ids)})`;
}

/** A call whose samples are not there yet, and when to look again. */
export interface Postponed {
  readonly id: string;
  readonly dueAt: Date;
}

/** Sets when calls are due again, which ends their leases. */
export async function postpone(db: Database, calls: readonly Postponed[]): Promise<void> {
  if (calls.length === 0) return;
  const rows = calls.map(({ id, dueAt }) => ({ id, due_at: dueAt.toISOString() }));
  await db.$executeRaw`
    UPDATE gpu_measurements m SET due_at = w.due_at
    FROM json_to_recordset(${JSON.stringify(rows)}::json) AS w (id text, due_at timestamptz)
    WHERE m.receipt_id = w.id`;
}
