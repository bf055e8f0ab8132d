/**
 * Sums of the hours that are over (`usage_hours`), so that usage is read from thousands of rows and not from millions.
 *
 * Invariant: an hour is taken from its sums only while `usage_changes` has no mark of it. The marks come with the receipts, and the
 * statement that takes them away has seen the receipts: both are of one snapshot. Nothing here decides a number: calls.ts does.
 */
import { elementAt } from '@gw/contract/internal/defined';
import type { Database } from '@gw/prisma/client';
import { Prisma } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import { newest } from '../receipts/ledger.ts';
import { body, byItself, facetColumns, facetsAndAmounts, sumColumns, sumsOfCalls } from './calls.ts';

/** How many hours of accounts one statement sums. */
export const hoursAtOnce = 20;
/** Receipts arrive in the ledger a little after the end of their hour. */
export const restS = 300;

/** Sums hours that are over and were changed since. Returns how many. One instance at a time does it. */
export async function sumHours(db: Database): Promise<number> {
  return db.$transaction(
    async (tx) => {
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('usage_hours'))`;
      // A statement of its own, behind the lock: it has to see what the one before has done.
      const done = await tx.$queryRaw<{ hours: number }[]>`
        WITH due AS (
          SELECT account_id, hour FROM usage_changes
          WHERE hour < date_trunc('hour', now() - ${restS} * INTERVAL '1 second', 'UTC')
          GROUP BY account_id, hour ORDER BY hour LIMIT ${hoursAtOnce}),
        taken AS (DELETE FROM usage_changes c USING due d WHERE (c.account_id, c.hour) = (d.account_id, d.hour)),
        outdated AS (DELETE FROM usage_hours u USING due d WHERE (u.account_id, u.hour) = (d.account_id, d.hour)),
        summed AS (
          INSERT INTO usage_hours (account_id, hour, issued, requests, ${facetColumns}, ${sumColumns})
          ${sumsOf(Prisma.sql`due`)})
        SELECT count(*)::int AS hours FROM due`;
      return elementAt(done, 0).hours;
    },
    { timeout: 120_000, maxWait: 10_000 },
  );
}

/** Sums of the hours in `due`, made from the receipts, in the order of the columns above. */
const sumsOf = (due: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT account_id, hour, issued, count(*), ${facetColumns}, ${sumsOfCalls}
  FROM (
    SELECT d.account_id, d.hour, r.version = 1 AS is_first, ${newest} AS is_newest, ${facetsAndAmounts}
    FROM ${due} d CROSS JOIN LATERAL (
      SELECT * FROM receipts r WHERE r.account_id = d.account_id
        AND r.created_at >= d.hour AND r.created_at < d.hour + INTERVAL '1 hour' ${byItself}) r
    CROSS JOIN LATERAL ${body}) calls
  JOIN (VALUES (TRUE), (FALSE)) v (issued) ON CASE WHEN issued THEN is_first ELSE is_newest END
  GROUP BY account_id, hour, issued, ${facetColumns}`;

/**
 * Makes the sums of an hour again, any one, and has it summed anew if they differ: somebody with the database has changed them, or a
 * receipt behind the triggers. An hour whose receipts the check of the ledger knows to be altered is read from the receipts anyway.
 */
export async function checkAnHour({ db, log }: { readonly db: Database; readonly log: Logger }): Promise<void> {
  const columns = Prisma.sql`account_id, hour, issued, requests, ${facetColumns}, ${sumColumns}`;
  const differing = await db.$queryRaw<{ account_id: string; hour: Date }[]>`
    WITH picked AS (
      SELECT account_id, hour FROM usage_hours u
      WHERE id >= (SELECT min(id) + (random() * (max(id) - min(id)))::bigint FROM usage_hours)
        AND NOT EXISTS (SELECT 1 FROM usage_changes c WHERE (c.account_id, c.hour) = (u.account_id, u.hour))
      ORDER BY id LIMIT 1),
    stored AS (SELECT ${columns} FROM usage_hours JOIN picked USING (account_id, hour)),
    made (account_id, hour, issued, requests, ${facetColumns}, ${sumColumns}) AS (${sumsOf(Prisma.sql`picked`)})
    SELECT DISTINCT account_id, hour FROM (
      (SELECT * FROM stored EXCEPT ALL SELECT * FROM made) UNION ALL (SELECT * FROM made EXCEPT ALL SELECT * FROM stored)
    ) differences`;
  for (const { account_id, hour } of differing) {
    log.error(
      { accountId: account_id, hour: hour.toISOString() },
      'the sums of an hour of usage were altered in storage',
    );
    await db.$executeRaw`INSERT INTO usage_changes (account_id, hour) VALUES (${account_id}, ${hour})`;
  }
}

/** Hours of an account that are looked at in one round. */
const hoursInARow = 500;

/**
 * Looks for hours of an account, any one, that have receipts and neither sums nor a mark, and has them summed: somebody with the database has
 * taken their sums away. Of those that the job has not come to there are marks.
 */
export async function findMissingHours({ db, log }: { readonly db: Database; readonly log: Logger }): Promise<void> {
  const missing = await db.$queryRaw<{ account_id: string; hour: Date }[]>`
    WITH account AS MATERIALIZED (SELECT id FROM accounts ORDER BY random() LIMIT 1),
    begun AS MATERIALIZED (
      SELECT a.id, (
        SELECT date_trunc('hour', r.created_at, 'UTC') FROM receipts r WHERE r.account_id = a.id
        ORDER BY r.created_at LIMIT 1) AS at
      FROM account a),
    picked AS MATERIALIZED (
      SELECT id AS account_id, greatest(at, date_trunc('hour',
        at + random() * (now() - at) - ${hoursInARow}::int / 2 * INTERVAL '1 hour', 'UTC')) AS first
      FROM begun WHERE at IS NOT NULL)
    SELECT account_id, h.hour FROM picked,
      generate_series(first, first + (${hoursInARow}::int - 1) * INTERVAL '1 hour', INTERVAL '1 hour') AS h(hour)
    WHERE NOT EXISTS (SELECT 1 FROM usage_hours u WHERE (u.account_id, u.hour) = (picked.account_id, h.hour))
      AND NOT EXISTS (SELECT 1 FROM usage_changes c WHERE (c.account_id, c.hour) = (picked.account_id, h.hour))
      AND (
        -- One by one, each by the index, and not all of the account.
        SELECT TRUE FROM receipts r WHERE r.account_id = picked.account_id
          AND r.created_at >= h.hour AND r.created_at < h.hour + INTERVAL '1 hour' LIMIT 1)`;
  for (const { account_id, hour } of missing) {
    log.error(
      { accountId: account_id, hour: hour.toISOString() },
      'the sums of an hour of usage are gone from storage',
    );
    await db.$executeRaw`INSERT INTO usage_changes (account_id, hour) VALUES (${account_id}, ${hour})`;
  }
}
