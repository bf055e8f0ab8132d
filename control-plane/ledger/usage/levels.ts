/**
 * Sums of the hours and days that are over, made from the sums of their minutes and hours, so that a year is read from thousands of rows.
 *
 * Invariant: an hour is taken from its sums only while it has no mark, and a day while neither it nor an hour of it has one. The marks come
 * with the finer sums, and the statement that takes them away has seen those: both are of one snapshot.
 */
import { elementAt } from '@gw/contract/internal/defined';
import { type Database, Prisma } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import { byItself, facetColumns, startOf, sumColumns, sumsOfSums } from './calls.ts';
import { sumAgain, writingSums } from './minutes.ts';

/** Sums of times of one length. Its table has a column of its name. */
export interface Level {
  readonly name: 'hour' | 'day';
  readonly table: Prisma.Sql;
  readonly column: Prisma.Sql;
  readonly marks: Prisma.Sql;
  /** Finer sums, which it is made of. */
  readonly parts: { readonly name: 'minute' | 'hour'; readonly table: Prisma.Sql };
  /** Whether one of its parts, in a query over marks or times `c`, is to be summed again itself. */
  readonly hasMarkedPart: Prisma.Sql;
  /** How many of accounts one statement sums. */
  readonly atOnce: number;
}

export const hours: Level = {
  name: 'hour',
  table: Prisma.sql`usage_hours`,
  column: Prisma.sql`hour`,
  marks: Prisma.sql`usage_hour_changes`,
  parts: { name: 'minute', table: Prisma.sql`usage_minutes` },
  hasMarkedPart: Prisma.sql`FALSE`,
  atOnce: 50,
};

export const days: Level = {
  name: 'day',
  table: Prisma.sql`usage_days`,
  column: Prisma.sql`day`,
  marks: Prisma.sql`usage_day_changes`,
  parts: { name: 'hour', table: Prisma.sql`usage_hours` },
  hasMarkedPart: Prisma.sql`EXISTS (SELECT 1 FROM usage_hour_changes h
    WHERE h.account_id = c.account_id AND h.hour >= c.day AND h.hour < c.day + INTERVAL '24 hours')`,
  atOnce: 50,
};

/** Receipts arrive in the ledger a little after the end of their hour. */
const restS = 300;

const columnsOf = ({ column }: Level): Prisma.Sql =>
  Prisma.sql`account_id, ${column}, issued, requests, ${facetColumns}, ${sumColumns}`;
const lengths = { hour: Prisma.sql`INTERVAL '1 hour'`, day: Prisma.sql`INTERVAL '24 hours'` };
const isPart = ({ name, parts }: Level, time: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`${Prisma.raw(parts.name)} >= ${time} AND ${Prisma.raw(parts.name)} < ${time} + ${lengths[name]}`;

/** Sums of the times in `due`, in the order of the columns. */
const sumsOf = (level: Level, due: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT account_id, due_at AS ${level.column}, issued, sum(requests) AS requests, ${facetColumns}, ${sumsOfSums}
  FROM (SELECT d.${level.column} AS due_at, u.* FROM ${due} d CROSS JOIN LATERAL (
    SELECT * FROM ${level.parts.table} u
    WHERE u.account_id = d.account_id AND ${isPart(level, Prisma.sql`d.${level.column}`)} ${byItself}) u) parts
  GROUP BY account_id, due_at, issued, ${facetColumns}`;

/** Sums the hours or days that are over and were changed since. Returns how many. */
export function sumLevel(db: Database, level: Level): Promise<number> {
  const { atOnce, column, hasMarkedPart, marks, name, table } = level;
  const isDue = Prisma.sql`(c.account_id, c.${column}) = (d.account_id, d.${column})`;
  return writingSums(db, async (tx) => {
    const done = await tx.$queryRaw<{ times: number }[]>`
      WITH due AS (
        SELECT account_id, ${column} FROM ${marks} c
        WHERE ${column} < date_trunc(${name}, now() - ${restS} * INTERVAL '1 second', 'UTC') AND NOT ${hasMarkedPart}
        ORDER BY ${column} LIMIT ${atOnce}),
      taken AS (DELETE FROM ${marks} c USING due d WHERE ${isDue}),
      outdated AS (DELETE FROM ${table} c USING due d WHERE ${isDue}),
      summed AS (INSERT INTO ${table} (${columnsOf(level)}) ${sumsOf(level, Prisma.sql`due`)})
      SELECT count(*)::int AS times FROM due`;
    return elementAt(done, 0).times;
  });
}

/** A row, any one. The bound is of the type of the ids, so that it is found by their index. */
const anyOf = (table: Prisma.Sql): Prisma.Sql => Prisma.sql`
  ${table} WHERE id >= (SELECT min(id) + (random() * (max(id) - min(id)))::bigint FROM ${table}) ORDER BY id LIMIT 1`;

/**
 * Makes the sums of an hour or a day again, any one that has sums of its own or of its parts, and has it and its parts summed anew if they
 * differ or are gone: somebody with the database has changed the ones or the others.
 */
export async function checkLevel(
  { db, log }: { readonly db: Database; readonly log: Logger },
  level: Level,
): Promise<void> {
  const { column, hasMarkedPart, marks, name, parts, table } = level;
  const columns = columnsOf(level);
  const differing = await db.$queryRaw<{ account_id: string; at: Date }[]>`
    WITH picked AS MATERIALIZED (
      SELECT DISTINCT account_id, ${column} FROM (
        (SELECT account_id, ${startOf(name, parts.name)} AS ${column} FROM ${anyOf(parts.table)})
        UNION ALL (SELECT account_id, ${column} FROM ${anyOf(table)})) c
      WHERE NOT ${hasMarkedPart}
        AND NOT EXISTS (SELECT 1 FROM ${marks} d WHERE (d.account_id, d.${column}) = (c.account_id, c.${column}))),
    stored AS (SELECT ${columns} FROM ${table} JOIN picked USING (account_id, ${column})),
    made AS (${sumsOf(level, Prisma.sql`picked`)})
    SELECT DISTINCT account_id, ${column} AS at FROM (
      (SELECT * FROM stored EXCEPT ALL SELECT * FROM made) UNION ALL (SELECT * FROM made EXCEPT ALL SELECT * FROM stored)
    ) differences`;
  for (const found of differing) {
    const { account_id, at } = found;
    log.error(
      { accountId: account_id, [name]: at.toISOString() },
      `the sums of ${name === 'day' ? 'a day' : 'an hour'} of usage were altered in storage`,
    );
    await db.$executeRaw`
      INSERT INTO ${marks} (account_id, ${column}) VALUES (${account_id}, ${at}) ON CONFLICT DO NOTHING`;
    if (level === hours) await sumAgain(db, found);
    else
      await db.$executeRaw`
        INSERT INTO usage_hour_changes (account_id, hour)
        SELECT DISTINCT account_id, hour FROM usage_hours
        WHERE account_id = ${account_id} AND ${isPart(level, Prisma.sql`${at}::timestamptz`)} ON CONFLICT DO NOTHING`;
  }
}
