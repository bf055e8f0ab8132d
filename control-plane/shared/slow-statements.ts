/**
 * Tells when Postgres is slow: a statement of this process that has run for 10 s, with what it waits for. Connections answer then and writes
 * elsewhere are committed, so nothing else shows it before receipts have waited for long.
 */
import { type Database, poolStateOf } from '@gw/prisma/client';
import type { Troubles } from '@gw/service/health/troubles';
import { oneAtATime } from '@gw/service/one-at-a-time';
import type { Databases } from './context.ts';

const name = 'postgres_slow';
const lookEveryMs = 1000;
const slowS = 10;
/** Statements that are given up and tried again are one trouble. */
const quietMs = 20_000;

export interface SlowStatements {
  stop(): void;
}

/** `now`: a monotonic clock, ms. */
export function watchStatements(databases: Databases, troubles: Troubles, now: () => number): SlowStatements {
  let seenAt = Number.NEGATIVE_INFINITY;
  const look = oneAtATime(async () => {
    const states = Object.entries(databases).map(([role, database]) => ({
      role,
      oldest: poolStateOf(database).oldest,
    }));
    const slow = states.find(({ oldest }) => oldest !== null && oldest.seconds > slowS);
    if (slow?.oldest) {
      seenAt = now();
      const cause = await causeOf(databases.reader, slow.oldest.processId).catch(() => unknownCause);
      troubles.tell(
        name,
        `A statement of the role ${slow.role} has run in Postgres for more than ${slowS} s. ${cause}`,
      );
    } else if (now() - seenAt > quietMs) troubles.over(name);
  });
  const timer = setInterval(() => void look().catch(() => undefined), lookEveryMs);
  return { stop: () => clearInterval(timer) };
}

const unknownCause = 'The cause is unknown: check pg_stat_activity, and the disk and the CPU of Postgres.';

async function causeOf(db: Database, processId: number | null): Promise<string> {
  if (processId === null) return unknownCause;
  const [blocker] = await db.$queryRaw<{ readonly pid: number; readonly usename: string | null }[]>`
    SELECT blocker AS pid, usename::text AS usename
    FROM unnest(pg_blocking_pids(${processId}::int)) AS blocker LEFT JOIN pg_stat_activity ON pid = blocker LIMIT 1`;
  if (!blocker) return unknownCause;
  return `It waits for a lock that process ${blocker.pid} of the role ${blocker.usename ?? 'unknown'} holds: find it in pg_stat_activity, and end it (pg_terminate_backend) if it should not run.`;
}
