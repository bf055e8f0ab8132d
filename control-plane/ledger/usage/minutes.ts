/**
 * Sums of minutes (`usage_minutes`), so that no question reads more receipts than the parts of a minute at its ends have.
 *
 * Invariant: what a receipt adds is in `usage_changes` or in the sums of its minute, never in both and never in neither: triggers write the
 * one with the receipt, and one statement moves it to the other. So both are read together, in one snapshot.
 */
import { elementAt } from '@gw/contract/internal/defined';
import { type Database, Prisma } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import { newest } from '../receipts/ledger.ts';
import { summed } from '../receipts/summed-names.ts';
import {
  body,
  byItself,
  facetColumns,
  facetsAndAmounts,
  startOf,
  sumColumns,
  sumsOfCalls,
  sumsOfSums,
} from './calls.ts';

/** How many changes one statement takes up. */
export const changesAtOnce = 10_000;

const columns = Prisma.sql`account_id, minute, issued, requests, ${facetColumns}, ${sumColumns}`;

/** Whoever writes sums holds this lock, so that they are written one after the other. `work` sees what the one before has done. */
export const writingSums = <T>(db: Database, work: (tx: Prisma.TransactionClient) => Promise<T>): Promise<T> =>
  db.$transaction(
    async (tx) => {
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('sums of usage'))`;
      return work(tx);
    },
    { timeout: 120_000, maxWait: 10_000 },
  );

/** Adds what receipts have added lately to the sums of their minutes. Returns how many rows of it there were. */
export function sumMinutes(db: Database): Promise<number> {
  return writingSums(db, async (tx) => {
    // Ids in arrays, so that each row is looked up by its index whatever the planner thinks of these tables, which change all the time.
    const done = await tx.$queryRaw<{ changes: number }[]>`
      WITH taken AS (
        DELETE FROM usage_changes WHERE id = ANY (ARRAY(SELECT id FROM usage_changes ORDER BY id LIMIT ${changesAtOnce}))
        RETURNING ${columns}),
      due AS MATERIALIZED (SELECT DISTINCT account_id, minute FROM taken),
      before AS (
        DELETE FROM usage_minutes WHERE id = ANY (ARRAY(
          SELECT u.id FROM due d CROSS JOIN LATERAL (
            SELECT id FROM usage_minutes u WHERE u.account_id = d.account_id AND u.minute = d.minute ${byItself}) u))
        RETURNING ${columns}),
      summed AS (
        INSERT INTO usage_minutes (${columns})
        SELECT account_id, minute, issued, sum(requests), ${facetColumns}, ${sumsOfSums}
        FROM (SELECT * FROM taken UNION ALL SELECT * FROM before) parts
        GROUP BY account_id, minute, issued, ${facetColumns})
      SELECT count(*)::int AS changes FROM taken`;
    return elementAt(done, 0).changes;
  });
}

/** Sums of the minutes in `due`, made from the receipts. */
const fromReceipts = (due: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT account_id, minute, issued, count(*) AS requests, ${facetColumns}, ${sumsOfCalls}
  FROM (
    SELECT d.account_id, d.minute, CASE WHEN NOT is_newest THEN TRUE WHEN r.version > 1 THEN FALSE END AS issued, ${facetsAndAmounts}
    FROM ${due} d CROSS JOIN LATERAL (
      SELECT r.*, ${newest} AS is_newest FROM receipts r WHERE r.account_id = d.account_id
        AND r.created_at >= d.minute AND r.created_at < d.minute + INTERVAL '1 minute' ${byItself}) r
    CROSS JOIN LATERAL ${body}
    WHERE r.version = 1 OR is_newest) calls
  GROUP BY account_id, minute, issued, ${facetColumns}`;

interface Time {
  readonly account_id: string;
  readonly at: Date;
}

/** Sums the minutes of an hour again, from the receipts, and so has the hour and its day summed again. */
export async function sumAgain(db: Database, { account_id, at }: Time): Promise<void> {
  const inHour = (time: string): Prisma.Sql => {
    const column = Prisma.raw(time);
    return Prisma.sql`account_id = ${account_id} AND ${column} >= ${at}::timestamptz AND ${column} < ${at}::timestamptz + INTERVAL '1 hour'`;
  };
  const minutes = await db.$queryRaw<{ minute: Date }[]>`
    SELECT minute FROM usage_changes WHERE ${inHour('minute')} UNION SELECT minute FROM usage_minutes WHERE ${inHour('minute')}
    UNION SELECT ${startOf('minute', 'created_at')} FROM receipts WHERE ${inHour('created_at')}`;
  // One by one, so that no statement takes long.
  for (const { minute } of minutes)
    await writingSums(db, (tx) => {
      const isDue = Prisma.sql`account_id = ${account_id} AND minute = ${minute}`;
      const due = Prisma.sql`(SELECT ${account_id}::text AS account_id, ${minute}::timestamptz AS minute)`;
      return tx.$executeRaw`
        WITH taken AS (DELETE FROM usage_changes WHERE ${isDue}), outdated AS (DELETE FROM usage_minutes WHERE ${isDue})
        INSERT INTO usage_minutes (${columns}) ${fromReceipts(due)}`;
    });
}

/** Its receipts are not here any more, and the sums stay. */
const isArchived = Prisma.sql`EXISTS (
  SELECT 1 FROM receipt_archives a WHERE a.state IN ('detached', 'dropped') AND a.month = date_trunc('month', minute AT TIME ZONE 'UTC')::date)`;

const anyRow = Prisma.sql`usage_minutes WHERE id >= (SELECT min(id) + (random() * (max(id) - min(id)))::bigint FROM usage_minutes) ORDER BY id LIMIT 1`;
/** Amounts that rows add up to. How many rows they are does not matter. */
const added = Prisma.raw(
  ['sum(requests)', ...summed.flatMap((name) => [`coalesce(sum(${name}), 0)`, `sum(known_${name})`])].join(),
);
const nothing = Prisma.raw(['0', ...summed.flatMap(() => ['0', '0'])].join());
const totals = (rows: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT account_id, minute, of_first, ${facetColumns}, ${added}
  FROM (${rows}) parts JOIN (VALUES (TRUE), (FALSE)) v (of_first) ON coalesce(issued, of_first) = of_first
  GROUP BY account_id, minute, of_first, ${facetColumns} HAVING (${added}) <> (${nothing})`;

/**
 * Makes the sums of a minute again, any one whose month is not archived, and keeps those if they differ: somebody with the database has changed them, or a receipt behind
 * the triggers. A minute whose receipts the check of the ledger knows to be altered is read from the receipts anyway.
 */
export async function checkAMinute({ db, log }: { readonly db: Database; readonly log: Logger }): Promise<void> {
  const differing = await db.$queryRaw<Time[]>`
    WITH picked AS MATERIALIZED (SELECT account_id, minute FROM (SELECT account_id, minute FROM ${anyRow}) one WHERE NOT ${isArchived}),
    stored AS (${totals(Prisma.sql`
      SELECT ${columns} FROM usage_minutes JOIN picked USING (account_id, minute)
      UNION ALL SELECT ${columns} FROM usage_changes JOIN picked USING (account_id, minute)`)}),
    made AS (${totals(Prisma.sql`SELECT * FROM (${fromReceipts(Prisma.sql`picked`)}) AS made (${columns})`)})
    SELECT DISTINCT account_id, date_trunc('hour', minute, 'UTC') AS at FROM (
      (SELECT * FROM stored EXCEPT ALL SELECT * FROM made) UNION ALL (SELECT * FROM made EXCEPT ALL SELECT * FROM stored)
    ) differences`;
  for (const found of differing) {
    log.error(
      { accountId: found.account_id, hour: found.at.toISOString() },
      'the sums of a minute of usage were altered in storage',
    );
    await sumAgain(db, found);
  }
}

/** Hours of an account that are looked at in one round. */
const hoursInARow = 500;

/**
 * Looks for hours of an account, any one, that have receipts and not the sums that they should have, and has them summed: somebody with the
 * database has taken these away. What the job has not come to is in `usage_changes`, or has a mark.
 */
export async function findMissingHours({ db, log }: { readonly db: Database; readonly log: Logger }): Promise<void> {
  const inHour = (table: string) =>
    Prisma.raw(`EXISTS (SELECT 1 FROM ${table} u
    WHERE u.account_id = picked.account_id AND u.minute >= h.hour AND u.minute < h.hour + INTERVAL '1 hour')`);
  const ofHour = (table: string) =>
    Prisma.raw(`EXISTS (SELECT 1 FROM ${table} u WHERE (u.account_id, u.hour) = (picked.account_id, h.hour))`);
  const missing = await db.$queryRaw<Time[]>`
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
    SELECT account_id, h.hour AS at FROM picked,
      generate_series(first, first + (${hoursInARow}::int - 1) * INTERVAL '1 hour', INTERVAL '1 hour') AS h(hour)
    WHERE NOT ${inHour('usage_changes')}
      AND NOT (${inHour('usage_minutes')} AND (${ofHour('usage_hours')} OR ${ofHour('usage_hour_changes')}))
      AND (
        -- One by one, each by the index, and not all of the account.
        SELECT TRUE FROM receipts r WHERE r.account_id = picked.account_id
          AND r.created_at >= h.hour AND r.created_at < h.hour + INTERVAL '1 hour' LIMIT 1)`;
  for (const found of missing) {
    log.error(
      { accountId: found.account_id, hour: found.at.toISOString() },
      'the sums of an hour of usage are gone from storage',
    );
    await sumAgain(db, found);
  }
}
