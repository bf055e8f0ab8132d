/** The job that holds the two witnesses against each other (docs/decisions/0067). */
import { minuteMs } from '@gw/contract/internal/durations';
import { ledgerStream, pendingReceiptsKey } from '@gw/contract/internal/redis';
import type { WitnessKeys } from '@gw/contract/internal/witness';
import type { Database, Prisma } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import { redisTime } from '@gw/service/redis';
import type { Redis } from 'ioredis';
import { type RepeatedJob, repeat } from '../../shared/repeat.ts';
import { mendFaults, noteFaults } from '../integrity/faults.ts';
import { timeOfReceipt } from '../receipts/receipt-id.ts';
import {
  again,
  dueMinutes,
  gapsAround,
  type Judged,
  judge,
  lastingMs,
  type Minute,
  restMs,
  storeVerdicts,
} from './compare.ts';
import { heardOf, noteSilence, takeStatements } from './statements.ts';

export interface WitnessJobOptions {
  readonly db: Database;
  readonly redis: Redis;
  readonly log: Logger;
  readonly keys: WitnessKeys;
  /** Tests do not wait for the end of a minute: how far the clock of the database is taken to be ahead. */
  readonly aheadMs?: number;
}

const everyMs = 4000;
/** How long after the beginning of a minute a difference in it is named at the latest, beside the time of the rounds. */
export const namedWithinMs = minuteMs + restMs + everyMs + lastingMs.missing + again.soonMs + everyMs;
/** The ledger lags behind if the first entry of the stream is older. */
const laggingMs = 5000;

export function startWitnessJob(options: WitnessJobOptions): RepeatedJob {
  return repeat({ name: 'comparison of witnesses', everyMs, log: options.log, run: () => compareWitnesses(options) });
}

/** One round. One instance at a time does it. Rejects if Postgres is away. */
export async function compareWitnesses({ aheadMs = 0, db, keys, log, redis }: WitnessJobOptions): Promise<void> {
  // First: a call that has ended since then has its receipt in what is read behind it.
  const pending = await pendingCalls(redis);
  const { altered, judged } = await db.$transaction(
    async (tx) => {
      const [lock] = await tx.$queryRaw<{ is_free: boolean }[]>`
        SELECT pg_try_advisory_xact_lock(hashtext('witness')) AS is_free`;
      if (lock?.is_free !== true) return { altered: [], judged: [] };
      const found = await takeStatements(tx, keys);
      await noteSilence(tx);
      const { now, since, until } = await heardOf(tx, aheadMs);
      const minutes = await dueMinutes(tx, { now, until });
      const gaps = await gapsAround(tx, minutes);
      const verdicts = minutes.map((row) => ({
        ...row,
        before: row.verdict,
        ...judge(row, { now, gaps, since, pending }),
      }));
      await storeVerdicts(tx, verdicts);
      await forgetOld(tx);
      return { altered: found, judged: verdicts };
    },
    { timeout: 60_000, maxWait: 10_000 },
  );
  await noteFaults({ db, log }, 'minute', [...altered, ...judged.filter(isFault).map(faultOf)]);
  const mended = judged.filter((row) => !isFault(row) && (row.before === 'extra' || row.before === 'missing'));
  await mendFaults(db, 'minute', mended.map(faultOf));
}

const isFault = ({ verdict }: Pick<Judged, 'verdict'>): boolean => verdict === 'extra' || verdict === 'missing';

const faultOf = ({ account_id, calls, measured, minute, receipts }: Minute) => ({
  name: account_id,
  number: minute.getTime() / minuteMs,
  fault: `${minute.toISOString()}: ${receipts} receipts, ${measured} of them with numbers, and ${calls} calls`,
});

/** Calls under way, by the minute in which they began; null if Redis does not answer or has entries that Postgres should have by now. */
async function pendingCalls(redis: Redis): Promise<ReadonlyMap<number, number> | null> {
  const asked = Promise.all([
    redis.zrange(pendingReceiptsKey, '0', '-1'),
    redis.xrange(ledgerStream, '-', '+', 'COUNT', 1),
    redisTime(redis),
  ]);
  const found = await asked.catch(() => null);
  if (found === null) return null;
  const [ids, [first], now] = found;
  if (first !== undefined && Number(first[0].split('-')[0]) < now - laggingMs) return null;
  const minutes = new Map<number, number>();
  for (const id of ids) {
    const time = timeOfReceipt(id);
    if (time === null) continue;
    const minute = Math.floor(time.getTime() / minuteMs);
    const known = minutes.get(minute);
    minutes.set(minute, known === undefined ? 1 : known + 1);
  }
  return minutes;
}

/** Minutes that differ stay. Those that are not witnessed stay for long enough to look into. */
async function forgetOld(tx: Prisma.TransactionClient): Promise<void> {
  await tx.$executeRaw`DELETE FROM call_counts WHERE minute < now() - INTERVAL '7 days' AND verdict = 'agrees'`;
  await tx.$executeRaw`DELETE FROM call_counts WHERE minute < now() - INTERVAL '90 days' AND verdict = 'not_witnessed'`;
  await tx.$executeRaw`DELETE FROM witness_statements WHERE stated_at < now() - INTERVAL '8 days'`;
  await tx.$executeRaw`DELETE FROM witness_gaps WHERE to_at < now() - INTERVAL '8 days'`;
  await tx.$executeRaw`DELETE FROM witness_lives WHERE last_at < now() - INTERVAL '9 days'`;
}
