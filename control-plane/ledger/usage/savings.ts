/**
 * Has sums made again that lack what the choice of regions saved: those from before it was summed, and those that a release from before
 * makes beside this one.
 *
 * Invariant: at most `hoursAtOnce` hours of accounts are marked at a time, since usage of marked hours is read from their receipts.
 */
import { type Database, Prisma } from '@gw/prisma/client';

const hoursAtOnce = 200;
/** How long it rests when it has been through all hours. */
const restMs = 3_600_000;

export class SavingsOfOldSums {
  readonly #db: Database;
  readonly #now: () => number;
  /** From the newest on, since they are asked for most. Null: from the beginning. */
  #before: Date | null = null;
  #restsUntil = 0;

  /** `now`: ms, of a clock that goes on steadily. */
  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /** Marks the next lot of hours, to be summed again. */
  async mark(): Promise<void> {
    if (this.#now() < this.#restsUntil) return;
    const place = this.#before === null ? Prisma.sql`TRUE` : Prisma.sql`hour <= ${this.#before}`;
    const marked = await this.#db.$queryRaw<{ hour: Date }[]>`
      INSERT INTO usage_changes (account_id, hour)
      SELECT account_id, hour FROM usage_hours WHERE ${place} AND known_carbon_saved_g IS NULL
      GROUP BY hour, account_id ORDER BY hour DESC LIMIT ${hoursAtOnce} RETURNING hour`;
    // Of its last hour there may be other accounts.
    this.#before = marked.reduce<Date | null>((first, { hour }) => (first && first < hour ? first : hour), null);
    if (marked.length === hoursAtOnce) return;
    this.#before = null;
    this.#restsUntil = this.#now() + restMs;
    await this.#markDays();
  }

  /** Days whose hours are whole: they were summed by a release from before. */
  async #markDays(): Promise<void> {
    await this.#db.$executeRaw`
      INSERT INTO usage_day_changes (account_id, day)
      SELECT DISTINCT account_id, day FROM usage_days WHERE known_carbon_saved_g IS NULL`;
  }
}
