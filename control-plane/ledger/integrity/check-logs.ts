/**
 * The check of all logs of receipts, by whichever instance.
 *
 * Invariant: as with the check of the receipts, one instance at a time has it, whoever takes it over goes on where the last one was, and it
 * takes a quarter of one core at most.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import { type RepeatedJob, repeat } from '../../shared/repeat.ts';
import { checkLogPage, type LogPlace, type LogStores } from './check-log.ts';
import { forgetFaults, noteFaults } from './faults.ts';

interface LogCheckOptions extends LogStores {
  readonly log: Logger;
  /** How long after the end of a check the next one begins, s. */
  readonly fullS: number;
}

const leaseS = 120;
const restFactor = 3;

export function startLogCheck(options: LogCheckOptions, everyS: number): RepeatedJob {
  const stopping = new AbortController();
  const run = () => checkLogs(options, stopping.signal);
  const job = repeat({ name: 'check of the logs of receipts', everyMs: everyS * 1000, log: options.log, run });
  return {
    stop: () => {
      stopping.abort();
      return job.stop();
    },
  };
}

/** Begins the check or goes on with it, if it is due and no other instance has it. Throws if Postgres is away. */
export async function checkLogs(options: LogCheckOptions, signal: AbortSignal): Promise<void> {
  const { db, log } = options;
  for (let claim = await take(options); claim !== null && !signal.aborted; ) {
    const from = performance.now();
    const { faults, next } = await checkLogPage(options, claim);
    await noteFaults({ db, log }, 'log', faults);
    if (next === null) return finish(db, claim);
    claim = await goOn(db, claim, next);
    await delay((performance.now() - from) * restFactor, undefined, { signal }).catch(() => {});
  }
}

interface CheckClaim extends LogPlace {
  readonly begunAt: Date;
  /** Names the claim as well. */
  readonly claimedUntil: Date;
}

async function take({ db, fullS }: LogCheckOptions): Promise<CheckClaim | null> {
  const [claim] = await db.$queryRaw<CheckClaim[]>`
    UPDATE receipt_log_checks SET claimed_until = CURRENT_TIMESTAMP + ${leaseS}::int * INTERVAL '1 second',
      begun_at = CASE WHEN begun_at BETWEEN '2000-01-01' AND CURRENT_TIMESTAMP THEN begun_at ELSE CURRENT_TIMESTAMP END
    WHERE (claimed_until IS NULL OR claimed_until <= CURRENT_TIMESTAMP
        -- Nobody claims it for longer: such a claim was put there to keep everybody away.
        OR claimed_until > CURRENT_TIMESTAMP + 2 * ${leaseS}::int * INTERVAL '1 second')
      AND (begun_at IS NOT NULL OR finished_at IS NULL
        OR finished_at <= CURRENT_TIMESTAMP - ${fullS}::int * INTERVAL '1 second' OR finished_at > CURRENT_TIMESTAMP)
    RETURNING begun_at AS "begunAt", claimed_until AS "claimedUntil", account_id AS "accountId", index::float8 AS index`;
  return claim ?? null;
}

/** Null if another instance has taken it over. */
async function goOn(
  db: Database,
  { claimedUntil }: CheckClaim,
  { accountId, index }: LogPlace,
): Promise<CheckClaim | null> {
  const [claim] = await db.$queryRaw<CheckClaim[]>`
    UPDATE receipt_log_checks SET claimed_until = CURRENT_TIMESTAMP + ${leaseS}::int * INTERVAL '1 second',
      account_id = ${accountId}, index = ${index}
    WHERE claimed_until = ${claimedUntil}
    RETURNING begun_at AS "begunAt", claimed_until AS "claimedUntil", account_id AS "accountId", index::float8 AS index`;
  return claim ?? null;
}

async function finish(db: Database, { begunAt, claimedUntil }: CheckClaim): Promise<void> {
  await forgetFaults(db, 'log', begunAt);
  await db.$executeRaw`
    UPDATE receipt_log_checks SET claimed_until = NULL, begun_at = NULL, account_id = '', index = 0,
      finished_at = CURRENT_TIMESTAMP
    WHERE claimed_until = ${claimedUntil}`;
}
