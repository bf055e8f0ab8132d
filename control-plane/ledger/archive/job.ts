/** The jobs of the archive: months that the policy of retention no longer keeps in Postgres leave, and what has left is checked. */
import type { Database } from '@gw/prisma/client';
import { allJobs, type RepeatedJob, repeat } from '../../shared/repeat.ts';
import { firstOf, nextMonth } from '../receipts/archive-notes.ts';
import { type ArchiveOptions, archiveMonths } from './archive-month.ts';
import { checkArchive } from './check-archive.ts';
import { accountsOf } from './write-files.ts';

/** How many months receipts stay in Postgres; null: for ever. */
export interface Kept {
  of(accountId: string): number | null;
}

export interface ArchiveJobOptions extends ArchiveOptions {
  readonly kept: (db: Database) => Promise<Kept>;
  readonly everyS: number;
  readonly fullS: number;
}

export function startArchive(options: ArchiveJobOptions): RepeatedJob {
  const { everyS, log, now } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const everyMs = everyS * 1000;
  let askedOn = '';
  const jobs = [
    repeat({
      name: 'archive of receipts',
      everyMs,
      log,
      run: async () => {
        const today = now().toISOString().slice(0, 10);
        if (askedOn !== today) await askForDue(options);
        askedOn = today;
        await archiveMonths(options);
      },
    }),
    repeat({ name: 'check of the archive', everyMs, log, run: () => checkArchive({ ...options, signal }) }),
  ];
  return {
    stop: async () => {
      stopping.abort();
      await allJobs(jobs).stop();
    },
  };
}

/**
 * Asks for the months that no account with receipts in them keeps in Postgres any longer: a month leaves as a whole, so the longest rule holds.
 */
export async function askForDue({ db, kept, log, now }: ArchiveJobOptions): Promise<void> {
  const rules = await kept(db);
  const months = await db.$queryRaw<{ month: string }[]>`
    SELECT replace(right(inhrelid::regclass::text, 7), '_', '-') AS month FROM pg_inherits
    WHERE inhparent = 'receipts'::regclass AND inhrelid::regclass::text ~ '^receipts_[0-9]{4}_[0-9]{2}$'
      AND NOT EXISTS (SELECT 1 FROM receipt_archives WHERE receipt_partition(month) = inhrelid::regclass::text) ORDER BY 1`;
  for (const { month } of months) {
    // The database freezes no younger one.
    if (!isOver(month, 2, now())) break;
    const accounts = await accountsOf(db, month);
    const isDue = accounts.every((account) => {
      const keep = rules.of(account);
      return keep !== null && isOver(month, keep, now());
    });
    if (accounts.length === 0 || !isDue) continue;
    await db.$executeRaw`
      INSERT INTO receipt_archives (month, asked_by) VALUES (${firstOf(month)}::date, 'retention') ON CONFLICT (month) DO NOTHING`;
    log.info({ month }, 'a month of receipts is due for the archive');
  }
}

/** Whether a month has been over for so many months. */
function isOver(month: string, months: number, now: Date): boolean {
  const end = nextMonth(month);
  return Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + months) <= now.getTime();
}
