/**
 * Which instance looks through which interval.
 *
 * Invariant: an interval is in one hand at a time, or in none; a claim ends by itself if its holder dies. A note that
 * comes meanwhile takes nothing out of that hand: it makes the interval due again afterwards.
 */
import { minuteMs } from '@gw/contract/internal/durations';
import { type Database, Prisma } from '@gw/prisma/client';

/** An interval of a grid zone that this instance has claimed. */
export interface Interval {
  readonly zone: string;
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly notedAt: Date;
  /** The start of the claim, by the clock of Postgres. */
  readonly begunAt: Date;
  /** When the claim ends. It also identifies the claim, since a later one ends at another time. */
  readonly claimedUntil: Date;
}

/**
 * After a reading is noted, its interval is looked through a second time. It is longer than a statement can take twice
 * (28.5 s each, by Postgres itself: prisma/client.ts), so that receipts whose storing had begun before the reading
 * could be seen are found.
 */
const secondLookMs = 60_000;
/** How long a claim lasts; then another instance looks through the interval. */
const leaseS = 300;
const claimed = Prisma.sql`claimed_until = CURRENT_TIMESTAMP + ${leaseS}::int * INTERVAL '1 second'`;

/** A measured value serves calls up to this long after its interval (contract/internal/grid-reading.ts). */
export const servesMs = 120 * minuteMs;

/** The condition that calls between two times, without the second, can have been served by the value of an interval. */
export const concerns = (interval: Prisma.Sql, from: Prisma.Sql, to: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`(${interval}.period_start < ${to} AND ${interval}.period_end + ${servesMs}::int * INTERVAL '1 millisecond' > ${from})`;

/** The condition that the restatement `r` concerns a month that is frozen. */
const inFrozenMonth = Prisma.sql`EXISTS (
  SELECT 1 FROM receipt_archives a WHERE a.state = 'frozen'
    AND ${concerns(Prisma.sql`r`, Prisma.sql`a.month::timestamp AT TIME ZONE 'UTC'`, Prisma.sql`(a.month + INTERVAL '1 month') AT TIME ZONE 'UTC'`)})`;

/**
 * Claims the interval that has been due for longest and that no other instance has; null if there is none. One that
 * concerns a frozen month waits, since the month accepts no version: it is claimed once the month has left or was given
 * up. What is due from this moment on was rounded to milliseconds, perhaps upward, so this moment is as well.
 */
export async function claim(db: Database): Promise<Interval | null> {
  const rows = await db.$queryRaw<Interval[]>`
    UPDATE restatements SET ${claimed}
    WHERE (zone, period_start, period_end) = (
      SELECT zone, period_start, period_end FROM restatements r
      WHERE due_at <= CURRENT_TIMESTAMP(3) AND (claimed_until IS NULL OR claimed_until <= CURRENT_TIMESTAMP)
        AND NOT ${inFrozenMonth}
      ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING zone, period_start AS "periodStart", period_end AS "periodEnd", noted_at AS "notedAt",
      CURRENT_TIMESTAMP(3) AS "begunAt", claimed_until AS "claimedUntil"`;
  return rows[0] ?? null;
}

/** Extends a claim. Returns null if it had ended and another instance has taken the interval. */
export async function renew(db: Database, interval: Interval): Promise<Interval | null> {
  const { zone, periodStart, periodEnd, claimedUntil } = interval;
  const [row] = await db.$queryRaw<Pick<Interval, 'claimedUntil'>[]>`
    UPDATE restatements SET ${claimed}
    WHERE (zone, period_start, period_end) = (${zone}, ${periodStart}, ${periodEnd}) AND claimed_until = ${claimedUntil}
    RETURNING claimed_until AS "claimedUntil"`;
  return row === undefined ? null : { ...interval, ...row };
}

/**
 * Ends a claim after a complete look. The interval is deleted after its second look, and is due for that one after its
 * first; if it was noted again meanwhile, it stays due as that note says.
 */
export async function finish(db: Database, interval: Interval): Promise<void> {
  const { zone, periodStart, periodEnd, notedAt, begunAt, claimedUntil } = interval;
  const which = { zone, periodStart, periodEnd, claimedUntil };
  const secondLook = new Date(notedAt.getTime() + secondLookMs);
  const asNoted = { ...which, notedAt };
  if (begunAt >= secondLook) await db.restatement.deleteMany({ where: asNoted });
  else await db.restatement.updateMany({ where: asNoted, data: { dueAt: secondLook, claimedUntil: null } });
  await db.restatement.updateMany({ where: which, data: { claimedUntil: null } });
}
