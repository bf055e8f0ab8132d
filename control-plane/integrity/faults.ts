/**
 * What was found to be wrong with the ledger and with the audit log, by readers and by the checks.
 *
 * Invariant: a fault is written and logged by its name when it is first found, and stays until a full check that began later
 * has not found it again.
 */
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import { messageOf } from '../repeat.ts';

export type FaultKind = 'audit' | 'receipt';

export interface Fault {
  /** A chain, or the id of a receipt. */
  readonly name: string;
  /** Of the entry in its chain, or the version of the receipt. */
  readonly number: number;
  readonly fault: string;
}

/** Never rejects: without Postgres it is in the log alone, and is found again. */
export async function noteFaults(
  { db, log }: { readonly db: Database; readonly log: Logger },
  kind: FaultKind,
  faults: readonly Fault[],
): Promise<void> {
  if (faults.length === 0) return;
  const what = kind === 'audit' ? 'the audit log was altered' : 'a receipt was altered in storage';
  try {
    const rows = await db.$queryRaw<(Fault & { is_new: boolean })[]>`
      INSERT INTO integrity_faults (kind, name, number, fault)
      SELECT DISTINCT ON (name, number) ${kind}, name, number, fault
      FROM json_to_recordset(${JSON.stringify(faults)}::json) AS f (name text, number bigint, fault text)
      ON CONFLICT (kind, name, number) DO UPDATE SET fault = EXCLUDED.fault, seen_at = CURRENT_TIMESTAMP
      RETURNING name, number::int AS number, fault, xmax = 0 AS is_new`;
    for (const { is_new, ...fault } of rows) if (is_new) log.error(fault, what);
  } catch (cause) {
    for (const fault of faults) log.error({ ...fault, notNoted: messageOf(cause) }, what);
  }
}

/**
 * After a full check that began then. That the end of a chain is gone is known only to whoever has seen it: such a fault
 * stays until the entry is there again.
 */
export async function forgetFaults(db: Database, kind: FaultKind, begun: Date): Promise<void> {
  await db.$executeRaw`
    DELETE FROM integrity_faults f WHERE f.kind = ${kind} AND f.seen_at < ${begun} AND NOT (
      f.kind = 'audit' AND f.fault = 'missing'
      AND NOT EXISTS (SELECT 1 FROM audit a WHERE a.chain = f.name AND a.seq = f.number))`;
}

export type FaultCounts = Readonly<Record<FaultKind, number>>;

export async function countFaults(db: Database): Promise<FaultCounts> {
  const rows = await db.integrityFault.groupBy({ by: ['kind'], _count: true });
  const of = (kind: FaultKind): number => rows.find((row) => row.kind === kind)?._count ?? 0;
  return { audit: of('audit'), receipt: of('receipt') };
}
