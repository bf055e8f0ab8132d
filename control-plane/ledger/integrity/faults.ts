/**
 * Stores the faults that readers and checks have found in the ledger and in the audit log.
 *
 * Invariant: a fault is written and logged by its name when it is found, and counts until a full check that began later
 * has not found it again, or an admin has acknowledged it (acknowledge.ts). Its row stays for ever, with the time of that.
 */
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import type { Seals } from '../receipts/sealed-rows.ts';
import { acknowledgementOf, type FaultKind, type FaultRow } from './acknowledge.ts';

const what: Readonly<Record<FaultKind, string>> = {
  archive: 'the archive of a month of receipts is not what was written',
  audit: 'the audit log was altered',
  batch: 'a batch of receipts was altered in storage',
  log: 'the log of receipts of an account was altered',
  minute: 'the ledger and the count of calls differ',
  pack: 'an evidence pack was altered in storage',
  receipt: 'a receipt was altered in storage',
};

/** One record that was found altered, missing or forged. */
export interface Fault {
  /** A chain, an archived month or the name of a file of it, `batches`, the id of a receipt, the digest of a part of facts, the account of a log or of a minute, the id of an evidence pack, or a life of ext-authz. */
  readonly name: string;
  /**
   * The number of the entry, batch or statement in its chain, the version of the receipt, the index in its log, the try of a pack, or the minute since 1970; 0 for
   * a part of facts.
   */
  readonly number: number;
  readonly fault: string;
}

/** Writes faults down, and logs those that are new. Never rejects: without Postgres they are in the log alone. */
export async function noteFaults(
  { db, log }: { readonly db: Database; readonly log: Logger },
  kind: FaultKind,
  faults: readonly Fault[],
): Promise<void> {
  if (faults.length === 0) return;
  try {
    const rows = await db.$queryRaw<(Fault & { is_new: boolean })[]>`
      WITH known AS (SELECT name, number, fault FROM integrity_faults WHERE kind = ${kind} AND mended_at IS NULL)
      INSERT INTO integrity_faults AS i (kind, name, number, fault)
      SELECT DISTINCT ON (name, number) ${kind}, name, number, fault
      FROM json_to_recordset(${JSON.stringify(faults)}::json) AS f (name text, number bigint, fault text)
      -- One of several faults of a row, and the same one each time: an acknowledgement is of one.
      ORDER BY name, number, fault
      ON CONFLICT (kind, name, number) DO UPDATE SET fault = EXCLUDED.fault, seen_at = CURRENT_TIMESTAMP,
        mended_at = NULL,
        acknowledgement = CASE WHEN i.fault = EXCLUDED.fault AND i.mended_at IS NULL THEN i.acknowledgement END
      RETURNING name, number::float8 AS number, fault,
        NOT EXISTS (
          SELECT 1 FROM known k WHERE k.name = i.name AND k.number = i.number AND k.fault = i.fault) AS is_new`;
    for (const { is_new, ...fault } of rows) if (is_new) log.error(fault, what[kind]);
  } catch (cause) {
    for (const fault of faults) log.error({ ...fault, err: cause }, what[kind]);
  }
}

/** Marks as mended what a full check that began at `begun` has not found again. */
export async function forgetFaults(db: Database, kind: FaultKind, begun: Date): Promise<void> {
  await db.$executeRaw`
    UPDATE integrity_faults SET mended_at = CURRENT_TIMESTAMP
    WHERE kind = ${kind} AND mended_at IS NULL AND seen_at < ${begun}`;
}

/** Marks single faults as mended. */
export async function mendFaults(
  db: Database,
  kind: FaultKind,
  faults: readonly Omit<Fault, 'fault'>[],
): Promise<void> {
  if (faults.length === 0) return;
  await db.$executeRaw`
    UPDATE integrity_faults i SET mended_at = CURRENT_TIMESTAMP
    FROM json_to_recordset(${JSON.stringify(faults)}::json) AS f (name text, number bigint)
    WHERE i.kind = ${kind} AND i.name = f.name AND i.number = f.number AND i.mended_at IS NULL`;
}

/**
 * Whether a full check of any kind has neither ended nor come on for more than two periods (s). One that takes long, because there is much, and
 * comes on is not overdue. A time in the future counts as long ago, since no check has written it.
 */
export async function isCheckOverdue(db: Database, periodS: number): Promise<boolean> {
  const [found] = await db.$queryRaw<{ overdue: boolean }[]>`
    SELECT bool_or(coalesce(greatest(finished_at, moved_at), begun_at) NOT BETWEEN
      CURRENT_TIMESTAMP - 2 * ${periodS}::int * INTERVAL '1 second' AND CURRENT_TIMESTAMP) AS overdue
    FROM integrity_checks`;
  return found?.overdue ?? false;
}

export type FaultCounts = Readonly<Record<FaultKind, number>>;

/** More than anybody writes a reason for. Those beyond count (closed). */
const mostAcknowledged = 1000;

/** Counts the faults that are neither mended nor acknowledged. */
export async function countFaults(db: Database, seals: Seals): Promise<FaultCounts> {
  const rows = await db.integrityFault.groupBy({ by: ['kind'], where: { mendedAt: null }, _count: true });
  const told = await db.$queryRaw<FaultRow[]>`
    SELECT kind, name, number::text AS number, fault, acknowledgement FROM integrity_faults
    WHERE mended_at IS NULL AND acknowledgement IS NOT NULL LIMIT ${mostAcknowledged}`;
  const known = told.filter((row) => acknowledgementOf(row, seals) !== null);
  const of = (kind: FaultKind): number => {
    const all = rows.find((row) => row.kind === kind)?._count ?? 0;
    return all - known.filter((row) => row.kind === kind).length;
  };
  return {
    archive: of('archive'),
    audit: of('audit'),
    batch: of('batch'),
    log: of('log'),
    minute: of('minute'),
    pack: of('pack'),
    receipt: of('receipt'),
  };
}
