/**
 * Compares the calls that ext-authz counted with the receipts of the ledger, by account and minute.
 *
 * Invariants: a minute is judged when every ext-authz has spoken after its end, and a difference counts only when it has lasted, since the two
 * ways to Postgres differ by seconds. More receipts than calls may be honest only for receipts without numbers (a client that left while its
 * call went out), and where nobody may have counted. What is not known is `not_witnessed`, which is shown and is no fault.
 */
import { minuteMs } from '@gw/contract/internal/durations';
import { Prisma } from '@gw/prisma/client';

type Tx = Prisma.TransactionClient;

export type Verdict = 'agrees' | 'extra' | 'missing' | 'not_witnessed';

/** A minute of an account. */
export interface Minute {
  readonly minute: Date;
  readonly account_id: string;
  /** The number that ext-authz counted. */
  readonly calls: number;
  /** First versions in the ledger: all, those with numbers, and among these those that came to their end. */
  readonly receipts: number;
  readonly measured: number;
  readonly whole: number;
  readonly verdict: Verdict | null;
  readonly differs_at: Date | null;
}

export interface Gap {
  readonly from_at: Date;
  /** Null: it lasts. */
  readonly to_at: Date | null;
}

/** The knowledge by which minutes are judged. */
export interface Surroundings {
  readonly now: Date;
  readonly gaps: readonly Gap[];
  /** When the first witness began; null: there never was one. */
  readonly since: Date | null;
  /** Calls that have not ended by the minute in which they began; null while Redis cannot be asked or the ledger lags behind. */
  readonly pending: ReadonlyMap<number, number> | null;
}

export interface Judged {
  readonly verdict: Verdict | null;
  readonly differs_at: Date | null;
  /** When it is compared next; null: only after a change. */
  readonly due_at: Date | null;
}

/** How long after the end of a minute its last calls may still be on their way. */
export const restMs = 10_000;
/** How long after the end of a minute each ext-authz has to have spoken. */
const heardMs = 2000;
/** The receipts of a minute that agrees are counted a second time, in case one was taken out. */
const secondLookMs = 55_000;
export const again = { soonMs: 5000, laterMs: 15_000, seldomMs: 5 * minuteMs };
/** How long a difference has to last. A receipt may come by a disk, or by the lease of a dead sidecar. */
export const lastingMs = { extra: 15_000, missing: 35_000 };
/** Pending calls and a lagging ledger excuse missing receipts no longer than this after the end of the minute. */
const excusedMs = { pending: 2 * minuteMs, lagging: 10 * minuteMs };
/** How long before a gap calls may have begun that ended in it: whole ones, and those that broke off. */
const beganBeforeMs = { whole: 10 * minuteMs, broken: 60 * minuteMs };

export function judge(row: Minute, surroundings: Surroundings): Judged {
  const { now } = surroundings;
  const endMs = row.minute.getTime() + minuteMs;
  const ageMs = now.getTime() - endMs;
  const after = (ms: number) => new Date(now.getTime() + ms);
  const kind = row.calls > row.receipts ? 'missing' : row.measured > row.calls ? 'extra' : null;
  if (kind === null) {
    const isLooked = ageMs >= secondLookMs;
    return { verdict: 'agrees', differs_at: null, due_at: isLooked ? null : new Date(endMs + secondLookMs) };
  }
  // A receipt that was named stays named: whoever made it could else end an ext-authz afterwards.
  if (kind === 'extra' && row.verdict !== 'extra' && isUnwitnessed(row, surroundings)) {
    const due_at = ageMs < beganBeforeMs.broken ? after(minuteMs) : null;
    return { verdict: 'not_witnessed', differs_at: null, due_at };
  }
  const since = row.differs_at ?? now;
  const lasts = now.getTime() - since.getTime() >= lastingMs[kind];
  if (lasts && !(kind === 'missing' && isExcused(row, ageMs, surroundings))) {
    const due_at = after(ageMs < beganBeforeMs.broken ? again.laterMs : again.seldomMs);
    return { verdict: kind, differs_at: since, due_at };
  }
  return { verdict: null, differs_at: since, due_at: after(again.soonMs) };
}

function isUnwitnessed({ calls, minute, whole }: Minute, { gaps, now, since }: Surroundings): boolean {
  const [fromMs, toMs] = [minute.getTime(), minute.getTime() + minuteMs];
  if (since === null || fromMs < since.getTime() + minuteMs) return true;
  return gaps.some(({ from_at, to_at }) => {
    if (fromMs > (to_at ?? now).getTime() + minuteMs) return false;
    if (toMs > from_at.getTime() - beganBeforeMs.whole) return true;
    return toMs > from_at.getTime() - beganBeforeMs.broken && whole <= calls;
  });
}

/** Reads the gaps that can matter to these minutes. */
export async function gapsAround(tx: Tx, minutes: readonly Minute[]): Promise<Gap[]> {
  const times = minutes.filter(({ calls, measured }) => measured > calls).map(({ minute }) => minute.getTime());
  if (times.length === 0) return [];
  const from = new Date(Math.min(...times) - minuteMs);
  const to = new Date(Math.max(...times) + minuteMs + beganBeforeMs.broken);
  return tx.$queryRaw<Gap[]>`
    SELECT from_at, to_at FROM witness_gaps WHERE (to_at >= ${from} OR to_at IS NULL) AND from_at < ${to}`;
}

function isExcused({ calls, minute, receipts }: Minute, ageMs: number, { pending }: Surroundings): boolean {
  if (pending === null) return ageMs < excusedMs.lagging;
  const mayCome = pending.get(minute.getTime() / minuteMs);
  return ageMs < excusedMs.pending && mayCome !== undefined && mayCome >= calls - receipts;
}

/** Minutes of accounts that one round compares. */
const atOnce = 2000;

/** Reads the minutes that are due and over, with the receipts that the ledger has of them now. */
export async function dueMinutes(
  tx: Tx,
  { now, until }: { readonly now: Date; readonly until: Date },
): Promise<Minute[]> {
  const before = new Date(Math.min(now.getTime() - restMs, until.getTime() - heardMs) - minuteMs);
  // The marks of new receipts are of one transaction with them.
  await tx.$executeRaw`
    WITH taken AS (DELETE FROM call_count_changes RETURNING minute, account_id)
    INSERT INTO call_counts (minute, account_id) SELECT DISTINCT minute, account_id FROM taken
    ON CONFLICT (minute, account_id) DO UPDATE SET due_at = now()`;
  return tx.$queryRaw<Minute[]>`
    SELECT d.*, r.* FROM (
      SELECT minute, account_id, calls, verdict, differs_at FROM call_counts
      WHERE due_at <= ${now} AND minute < ${before}
      ORDER BY due_at LIMIT ${atOnce}) d
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS receipts, count(energy_wh)::int AS measured,
        (count(energy_wh) FILTER (WHERE status = 'complete'))::int AS whole
      FROM receipts r
      WHERE r.account_id = d.account_id AND r.created_at >= d.minute AND r.created_at < d.minute + INTERVAL '1 minute'
        AND r.version = 1
      OFFSET 0) r`;
}

/** Writes down what came of them. */
export async function storeVerdicts(tx: Tx, judged: readonly (Minute & Judged)[]): Promise<void> {
  if (judged.length === 0) return;
  const rows = judged.map(({ account_id, differs_at, due_at, minute, receipts, verdict }) => {
    return { account_id, differs_at, due_at, minute, receipts, verdict };
  });
  await tx.$executeRaw`
    UPDATE call_counts c SET receipts = f.receipts, verdict = f.verdict, differs_at = f.differs_at, due_at = f.due_at
    FROM json_to_recordset(${Prisma.sql`${JSON.stringify(rows)}::json`}) AS f (
      minute timestamptz, account_id text, receipts int, verdict text, differs_at timestamptz, due_at timestamptz)
    WHERE c.minute = f.minute AND c.account_id = f.account_id`;
}
