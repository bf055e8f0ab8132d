/**
 * Rounds of a check through everything, page by page.
 *
 * Invariant: a round is in the hands of one instance at a time, and whoever takes it over goes on where the last one was. It takes a quarter of
 * one core at most, however large the ledger is: then it takes longer than the period, and how far it is and how fast it goes can be read.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Database, Prisma } from '@gw/prisma/client';
import { forgetFaults } from './faults.ts';

export type RoundKind = 'archive' | 'batch' | 'log' | 'receipt';

/** A place in what a round goes through: a version of a receipt, `arrived` of a batch in decimal and 0, or an account and an index of its log. */
export interface RoundPlace {
  readonly id: string;
  readonly version: number;
}

export interface RoundPage {
  /** How many rows were looked at. */
  readonly checked: number;
  /** How many could not be looked at now. A round that skips any proves nothing, and no fault is mended by it. */
  readonly skipped?: number;
  /** Where the next page begins; null after the last one. */
  readonly next: RoundPlace | null;
}

export interface RoundPace {
  /** How long after the end of a round the next one begins. */
  readonly fullS: number;
  /** Ends the round after the page that it is at. */
  readonly signal: AbortSignal;
  /** How long the check rests after a page: this many times what the page took, 3 times unless a test is in a hurry. */
  readonly restFactor?: number;
}

interface RoundOptions extends RoundPace {
  readonly db: Database;
  readonly kind: RoundKind;
}

const leaseS = 120;

/**
 * Begins a round or goes on with it, if it is due and no other instance has it. Returns whether it has come to the end of one. Throws if Postgres is
 * away.
 */
export async function goRound(
  options: RoundOptions,
  check: (after: RoundPlace) => Promise<RoundPage>,
): Promise<boolean> {
  const { restFactor = 3, signal } = options;
  for (let claim = await take(options); claim !== null && !signal.aborted; ) {
    const from = performance.now();
    const page = await check({ id: claim.afterId, version: claim.afterVersion });
    if (page.next === null) {
      await finish(options, claim, page);
      return true;
    }
    claim = await goOn(options, claim, page);
    await delay((performance.now() - from) * restFactor, undefined, { signal }).catch(() => {});
  }
  return false;
}

interface RoundClaim {
  readonly begunAt: Date;
  /** Names the claim as well. */
  readonly claimedUntil: Date;
  readonly afterId: string;
  readonly afterVersion: number;
  readonly skipped: number;
}

const claimColumns = Prisma.sql`begun_at AS "begunAt", claimed_until AS "claimedUntil", after_id AS "afterId",
  after_version::float8 AS "afterVersion", skipped::float8 AS skipped`;

async function take({ db, fullS, kind }: RoundOptions): Promise<RoundClaim | null> {
  const [claim] = await db.$queryRaw<RoundClaim[]>`
    UPDATE integrity_checks SET claimed_until = CURRENT_TIMESTAMP + ${leaseS}::int * INTERVAL '1 second', moved_at = CURRENT_TIMESTAMP,
      -- None began at another time, which JavaScript might have no date for.
      begun_at = CASE WHEN begun_at BETWEEN '2000-01-01' AND CURRENT_TIMESTAMP THEN begun_at ELSE CURRENT_TIMESTAMP END
    WHERE kind = ${kind} AND (claimed_until IS NULL OR claimed_until <= CURRENT_TIMESTAMP
        -- Nobody claims it for longer: such a claim was put there to keep everybody away.
        OR claimed_until > CURRENT_TIMESTAMP + 2 * ${leaseS}::int * INTERVAL '1 second')
      AND (begun_at IS NOT NULL OR finished_at IS NULL
        OR finished_at <= CURRENT_TIMESTAMP - ${fullS}::int * INTERVAL '1 second' OR finished_at > CURRENT_TIMESTAMP)
    RETURNING ${claimColumns}`;
  return claim ?? null;
}

/** Null if another instance has taken it over. */
async function goOn(
  { db, kind }: RoundOptions,
  { claimedUntil }: RoundClaim,
  { checked, next, skipped = 0 }: RoundPage,
): Promise<RoundClaim | null> {
  const [claim] = await db.$queryRaw<RoundClaim[]>`
    UPDATE integrity_checks SET claimed_until = CURRENT_TIMESTAMP + ${leaseS}::int * INTERVAL '1 second', moved_at = CURRENT_TIMESTAMP,
      checked = checked + ${checked}, skipped = skipped + ${skipped}, after_id = ${next?.id}, after_version = ${next?.version}
    WHERE kind = ${kind} AND claimed_until = ${claimedUntil}
    RETURNING ${claimColumns}`;
  return claim ?? null;
}

async function finish({ db, kind }: RoundOptions, claim: RoundClaim, { skipped = 0 }: RoundPage): Promise<void> {
  const { begunAt, claimedUntil } = claim;
  const isWhole = claim.skipped + skipped === 0;
  if (isWhole) await forgetFaults(db, kind, begunAt);
  await db.$executeRaw`
    UPDATE integrity_checks SET claimed_until = NULL, begun_at = NULL, after_id = '', after_version = 0, checked = 0, skipped = 0,
      finished_at = CURRENT_TIMESTAMP, whole_begun_at = CASE WHEN ${isWhole} THEN ${begunAt}::timestamptz ELSE whole_begun_at END
    WHERE kind = ${kind} AND claimed_until = ${claimedUntil}`;
}
