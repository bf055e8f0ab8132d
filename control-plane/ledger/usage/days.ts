/**
 * Sums of the days that are over (`usage_days`), made from the sums of their hours, so that a year is read from thousands of rows.
 *
 * Invariant: a day is taken from its sums only while neither `usage_day_changes` nor `usage_changes` has a mark in it. The marks come with
 * the sums of hours, and the statement that takes them away has seen those: both are of one snapshot.
 */
import { elementAt } from '@gw/contract/internal/defined';
import type { Database } from '@gw/prisma/client';
import { Prisma } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import { byItself, dayOf, facetColumns, sumColumns, sumsOfSums } from './calls.ts';
import { restS } from './hours.ts';

/** How many days of accounts one statement sums. */
export const daysAtOnce = 50;

const columns = Prisma.sql`account_id, day, issued, requests, ${facetColumns}, ${sumColumns}`;
const inDay = (hour: Prisma.Sql, day: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`${hour} >= ${day} AND ${hour} < ${day} + INTERVAL '24 hours'`;

/** Sums of the days in `due`, in the order of the columns. */
const sumsOf = (due: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT account_id, day, issued, sum(requests) AS requests, ${facetColumns}, ${sumsOfSums}
  FROM (SELECT d.day, u.* FROM ${due} d CROSS JOIN LATERAL (
    SELECT * FROM usage_hours u WHERE u.account_id = d.account_id AND ${inDay(Prisma.sql`u.hour`, Prisma.sql`d.day`)} ${byItself}) u) hours
  GROUP BY account_id, day, issued, ${facetColumns}`;

const hasMarkedHour = Prisma.sql`EXISTS (
  SELECT 1 FROM usage_changes h WHERE h.account_id = c.account_id AND ${inDay(Prisma.sql`h.hour`, Prisma.sql`c.day`)})`;

/** Sums days that are over and were changed since. Returns how many. One instance at a time does it. */
export async function sumDays(db: Database): Promise<number> {
  return db.$transaction(
    async (tx) => {
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('usage_days'))`;
      const done = await tx.$queryRaw<{ days: number }[]>`
        WITH due AS (
          SELECT account_id, day FROM usage_day_changes c
          WHERE day < date_trunc('day', now() - ${restS} * INTERVAL '1 second', 'UTC') AND NOT ${hasMarkedHour}
          GROUP BY account_id, day ORDER BY day LIMIT ${daysAtOnce}),
        taken AS (DELETE FROM usage_day_changes c USING due d WHERE (c.account_id, c.day) = (d.account_id, d.day)),
        outdated AS (DELETE FROM usage_days u USING due d WHERE (u.account_id, u.day) = (d.account_id, d.day)),
        summed AS (INSERT INTO usage_days (${columns}) ${sumsOf(Prisma.sql`due`)})
        SELECT count(*)::int AS days FROM due`;
      return elementAt(done, 0).days;
    },
    { timeout: 120_000, maxWait: 10_000 },
  );
}

/** A row, any one. The bound is of the type of the ids, so that it is found by their index. */
const anyOf = (table: Prisma.Sql): Prisma.Sql => Prisma.sql`
  ${table} WHERE id >= (SELECT min(id) + (random() * (max(id) - min(id)))::bigint FROM ${table}) ORDER BY id LIMIT 1`;

/**
 * Makes the sums of a day again, any one that has sums of hours or of its own, and has it and its hours summed anew if they differ or are
 * gone: somebody with the database has changed the ones or the others.
 */
export async function checkADay({ db, log }: { readonly db: Database; readonly log: Logger }): Promise<void> {
  const differing = await db.$queryRaw<{ account_id: string; day: Date }[]>`
    WITH picked AS MATERIALIZED (
      SELECT DISTINCT account_id, day FROM (
        (SELECT account_id, ${dayOf('hour')} AS day FROM ${anyOf(Prisma.sql`usage_hours`)})
        UNION ALL (SELECT account_id, day FROM ${anyOf(Prisma.sql`usage_days`)})) c
      WHERE NOT ${hasMarkedHour}
        AND NOT EXISTS (SELECT 1 FROM usage_day_changes d WHERE (d.account_id, d.day) = (c.account_id, c.day))),
    stored AS (SELECT ${columns} FROM usage_days JOIN picked USING (account_id, day)),
    made AS (${sumsOf(Prisma.sql`picked`)})
    SELECT DISTINCT account_id, day FROM (
      (SELECT * FROM stored EXCEPT ALL SELECT * FROM made) UNION ALL (SELECT * FROM made EXCEPT ALL SELECT * FROM stored)
    ) differences`;
  for (const { account_id, day } of differing) {
    log.error({ accountId: account_id, day: day.toISOString() }, 'the sums of a day of usage were altered in storage');
    await db.$executeRaw`
      WITH marked AS (INSERT INTO usage_day_changes (account_id, day) VALUES (${account_id}, ${day}))
      INSERT INTO usage_changes (account_id, hour)
      SELECT DISTINCT account_id, hour FROM usage_hours
      WHERE account_id = ${account_id} AND ${inDay(Prisma.sql`hour`, Prisma.sql`${day}::timestamptz`)}`;
  }
}
