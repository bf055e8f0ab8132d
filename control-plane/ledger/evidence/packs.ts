/**
 * The packs that jobs build, as Postgres has them: who asked for which, how far each is, and who builds it.
 *
 * Invariants: Postgres alone decides the state of a pack. A builder holds a lease under the number of its try, and every
 * chunk that it writes has that number. Once another try has begun, or the pack was cancelled, nothing that the
 * earlier one writes counts. So only a complete pack becomes ready. The clock of Postgres decides when a lease ends.
 */
import { randomUUID } from 'node:crypto';
import {
  type EvidenceRequest,
  evidenceRequestSchema,
  type PackFormat,
  type PackJob,
  type PackState,
} from '@gw/contract/evidence';
import { type Database, Prisma } from '@gw/prisma/client';
import { heldAccounts } from '../retention/holds.ts';
import { dueRows, retentionOf } from '../retention/policy.ts';

export interface PackRow {
  readonly id: string;
  readonly account_id: string;
  readonly state: PackState;
  readonly format: PackFormat;
  readonly request: StoredRequest;
  readonly created_at: Date;
  readonly try: number;
  readonly receipts_done: number;
  readonly receipts_total: number | null;
  readonly bytes: number | null;
  readonly reason: string | null;
  readonly expires_at: Date | null;
  /** The digest of the list of its chunks (chunks.ts); null: not ready. */
  readonly chunks_sha256: string | null;
  /** The statement of a table that is ready, as JSON. */
  readonly statement: string | null;
}

/** The request; `until` is its `to`, or the time of the request if it had none. */
export interface StoredRequest {
  readonly asked: EvidenceRequest;
  readonly from: string | null;
  readonly until: string | null;
}

export interface PackLimits {
  /** Compressed bytes of finished packs that are kept for an account. */
  readonly quotaBytes: number;
}

/** Packs of an account that are queued or being built. */
export const mostUnderWay = 2;
/** A pack fails after this many tries. */
export const mostTries = 5;
const leaseS = 30;

export type Refused = { readonly refused: 'quota' | 'under way' };

const mb = (bytes: number): number => Math.round(bytes / 1_000_000);
export const quotaReason = ({ quotaBytes }: PackLimits): string =>
  `The packs that are kept for this account would take more than ${mb(quotaBytes)} MB.`;

/** Enters a pack that has to be built. */
export async function enterPack(
  db: Database,
  { accountId, now, request }: { readonly accountId: string; readonly request: StoredRequest; readonly now: Date },
  { quotaBytes }: PackLimits,
): Promise<PackRow | Refused> {
  return db.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('evidence_packs:' || ${accountId}, 0))`;
    const [used] = await tx.$queryRaw<{ under_way: number; kept: number }[]>`
      SELECT count(*) FILTER (WHERE state IN ('queued', 'building'))::int AS under_way,
        coalesce(sum(kept_bytes) FILTER (WHERE state IN ('building', 'ready')), 0)::float8 AS kept
      FROM evidence_packs WHERE account_id = ${accountId} AND state IN ('queued', 'building', 'ready')`;
    if (used === undefined || used.under_way >= mostUnderWay) return { refused: 'under way' };
    if (used.kept >= quotaBytes) return { refused: 'quota' };
    const rows = await tx.$queryRaw<StoredPackRow[]>`
      INSERT INTO evidence_packs (id, account_id, request, format, created_at, changed_at)
      VALUES (${`pack_${randomUUID()}`}, ${accountId}, ${JSON.stringify(request)}::json, ${request.asked.format}, ${now}, ${now})
      RETURNING *`;
    return rowOf(rows[0]) ?? { refused: 'under way' };
  });
}

type StoredPackRow = Omit<PackRow, 'bytes' | 'receipts_done' | 'receipts_total' | 'request'> & {
  readonly request: unknown;
  readonly bytes: bigint | null;
  readonly receipts_done: bigint;
  readonly receipts_total: bigint | null;
};

function rowOf(row: StoredPackRow | undefined): PackRow | null {
  if (row === undefined) return null;
  const { asked, from, until } = row.request as StoredRequest;
  return {
    ...row,
    request: { asked: evidenceRequestSchema.parse(asked), from, until },
    bytes: row.bytes === null ? null : Number(row.bytes),
    receipts_done: Number(row.receipts_done),
    receipts_total: row.receipts_total === null ? null : Number(row.receipts_total),
  };
}

/** Null: the account has no pack with this id. */
export async function findPack(db: Database, accountId: string, id: string): Promise<PackRow | null> {
  const rows = await db.$queryRaw<StoredPackRow[]>`
    SELECT * FROM evidence_packs WHERE id = ${id} AND account_id = ${accountId}`;
  return rowOf(rows[0]);
}

/** Lists the packs after the pack `after`, the newest first; null: the account has no pack with this id. */
export async function listPacks(
  db: Database,
  accountId: string,
  { after, most }: { readonly after: string | undefined; readonly most: number },
): Promise<PackRow[] | null> {
  const last = after === undefined ? undefined : await findPack(db, accountId, after);
  if (last === null) return null;
  const behind = last ? Prisma.sql`AND (created_at, id) < (${last.created_at}::timestamptz, ${last.id})` : Prisma.empty;
  const rows = await db.$queryRaw<StoredPackRow[]>`
    SELECT * FROM evidence_packs WHERE account_id = ${accountId} ${behind}
    ORDER BY created_at DESC, id DESC LIMIT ${most}`;
  return rows.flatMap((row) => rowOf(row) ?? []);
}

export const jobOf = (row: PackRow): PackJob => ({
  object: 'gw.evidence_pack_job',
  id: row.id,
  state: row.state,
  format: row.format,
  created_at: row.created_at.toISOString(),
  receipts_done: row.receipts_done,
  receipts_total: row.receipts_total === null ? null : Math.max(row.receipts_total, row.receipts_done),
  bytes: row.state === 'ready' ? row.bytes : null,
  expires_at: row.state === 'ready' ? (row.expires_at?.toISOString() ?? null) : null,
  reason: row.reason,
  statement: row.state === 'ready' && row.statement !== null ? JSON.parse(row.statement) : null,
});

/** Cancels a pack that is not ready yet, or gives up a finished one. Returns the pack as it is then. */
export async function cancelPack(db: Database, accountId: string, id: string): Promise<PackRow | null> {
  await db.$executeRaw`
    UPDATE evidence_packs SET state = 'cancelled', changed_at = now(), leased_until = NULL
    WHERE id = ${id} AND account_id = ${accountId} AND state IN ('queued', 'building', 'ready')`;
  return findPack(db, accountId, id);
}

/** Finds the packs that nobody builds, with the number of their last try. If a builder died, its lease is over. */
export function waitingPacks(db: Database): Promise<{ readonly id: string; readonly try: number }[]> {
  return db.$queryRaw`
    SELECT id, try FROM evidence_packs
    WHERE state = 'queued' OR (state = 'building' AND leased_until < now())
    ORDER BY created_at, id LIMIT 100`;
}

/** Begins a try. Null: another instance builds the pack, or it need not be built any more. */
export async function claimPack(db: Database, id: string): Promise<PackRow | null> {
  const rows = await db.$queryRaw<StoredPackRow[]>`
    UPDATE evidence_packs SET
      state = CASE WHEN try >= ${mostTries} THEN 'failed' ELSE 'building' END,
      reason = CASE WHEN try >= ${mostTries} THEN 'The gateway has begun it five times and could not finish it.' END,
      try = try + 1, leased_until = now() + make_interval(secs => ${leaseS}), changed_at = now(),
      receipts_done = 0, receipts_total = NULL, kept_bytes = 0
    WHERE id = ${id} AND (state = 'queued' OR (state = 'building' AND leased_until < now()))
    RETURNING *`;
  const row = rowOf(rows[0]);
  return row?.state === 'building' ? row : null;
}

export interface Progress {
  readonly done: number;
  readonly total: number | null;
  readonly keptBytes: number;
}

/** The try has to stop: another one has begun, or the pack was cancelled. */
export class PackLostError extends Error {}

/** Stores the progress of a try and renews its lease. Returns how many bytes are kept for the account, including this pack. */
export async function notePack(db: Database, pack: PackRow, { done, keptBytes, total }: Progress): Promise<number> {
  const [noted] = await db.$queryRaw<{ others: number }[]>`
    UPDATE evidence_packs p SET receipts_done = ${done}, receipts_total = ${total}, kept_bytes = ${keptBytes},
      reason = NULL, leased_until = now() + make_interval(secs => ${leaseS}), changed_at = now()
    WHERE id = ${pack.id} AND try = ${pack.try} AND state = 'building'
    RETURNING (SELECT coalesce(sum(o.kept_bytes), 0)::float8 FROM evidence_packs o
      WHERE o.account_id = p.account_id AND o.id <> p.id AND o.state IN ('building', 'ready')) AS others`;
  if (noted === undefined) throw new PackLostError('The pack is not this try’s any more.');
  return noted.others + keptBytes;
}

/** Renews the lease of a try that waits, and stores what for. */
export async function waitPack(db: Database, pack: PackRow, reason: string): Promise<void> {
  const waiting = await db.$executeRaw`
    UPDATE evidence_packs SET reason = ${reason}, leased_until = now() + make_interval(secs => ${leaseS}), changed_at = now()
    WHERE id = ${pack.id} AND try = ${pack.try} AND state = 'building'`;
  if (waiting === 0) throw new PackLostError('The pack is not this try’s any more.');
}

export async function finishPack(
  db: Database,
  pack: PackRow,
  {
    bytes,
    chunksSha256,
    keepDays,
    keptBytes,
    statement,
  }: {
    readonly bytes: number;
    readonly chunksSha256: string;
    readonly keptBytes: number;
    /** Null: for ever. */
    readonly keepDays: number | null;
    readonly statement: string | null;
  },
): Promise<void> {
  const finished = await db.$executeRaw`
    UPDATE evidence_packs SET state = 'ready', bytes = ${bytes}, kept_bytes = ${keptBytes}, leased_until = NULL,
      chunks_sha256 = ${chunksSha256}, statement = ${statement}, changed_at = now(), expires_at = now() + make_interval(days => ${keepDays}::int)
    WHERE id = ${pack.id} AND try = ${pack.try} AND state = 'building'`;
  if (finished === 0) throw new PackLostError('The pack is not this try’s any more.');
}

/** Ends a try. `reason`: null lets another try begin. */
export async function leavePack(db: Database, pack: PackRow, reason: string | null): Promise<void> {
  await db.$executeRaw`
    UPDATE evidence_packs SET state = ${reason === null ? 'queued' : 'failed'}, reason = ${reason},
      leased_until = NULL, changed_at = now()
    WHERE id = ${pack.id} AND try = ${pack.try} AND state = 'building'`;
}

/** Lets packs expire, and forgets those that ended long ago. Returns how many packs expired. A legal hold keeps a pack. Their objects go later. */
export async function expirePacks(db: Database): Promise<number> {
  const expired = await db.$transaction(async (tx) => {
    const { accounts, all } = await heldAccounts(tx);
    return tx.$executeRaw`
      UPDATE evidence_packs SET state = 'expired', changed_at = now()
      WHERE state = 'ready' AND expires_at <= now() AND NOT ${all} AND account_id <> ALL (${[...accounts]}::text[])`;
  });
  await db.$executeRaw`
    UPDATE evidence_packs SET kept_bytes = 0
    WHERE kept_bytes > 0 AND state NOT IN ('building', 'ready')`;
  // A fault is one of a pack that somebody may still read.
  await db.$executeRaw`
    UPDATE integrity_faults SET mended_at = CURRENT_TIMESTAMP
    WHERE kind = 'pack' AND mended_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM evidence_packs p WHERE p.id = name AND p.state = 'ready')`;
  await db.$transaction(async (tx) => {
    const rows = dueRows(await retentionOf(tx, 'evidence_jobs'), await heldAccounts(tx), Prisma.sql`account_id`);
    for (const { keep, where } of rows)
      await tx.$executeRaw`
        DELETE FROM evidence_packs WHERE ${where} AND state NOT IN ('queued', 'building', 'ready')
          AND changed_at < now() - make_interval(days => ${keep}::int)`;
  });
  return expired;
}
