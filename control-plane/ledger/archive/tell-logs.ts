/**
 * Tells the log and the audit chain of each account that a month of its receipts is archived.
 *
 * Invariant: an account is told once of a month, however often this dies and begins again: the entry of its log and that of its audit chain are one
 * transaction, under the lock that all writers of the log take. When this resolves to null, each log tells of this archive and of no other, and a signed
 * checkpoint is over the entry.
 */
import { elementAt } from '@gw/contract/internal/defined';
import { dayMs } from '@gw/contract/internal/durations';
import type { Queryable } from '@gw/prisma/client';
import { type AuditFact, appendAudit } from '../../people/audit/append.ts';
import type { LogOptions } from '../log/append.ts';
import { archivedLeaf, archivedName, type StoredEntry, tellsOf } from '../log/archived-leaf.ts';
import { signCheckpoint } from '../log/sign.ts';
import { cleanTail, reportPlanted, signedSize } from '../log/tail.ts';
import { appendLeaves, LogBrokenError, lockLog } from '../log/tree.ts';
import { type ArchiveNote, firstOf, nextMonth } from '../receipts/archive-notes.ts';
import { ArchiveHeldUpError, type MonthOptions } from './store-file.ts';

const patient = { timeout: 60_000, maxWait: 10_000 };
/** How many accounts are named of those whose logs are broken. */
const mostNamed = 10;

interface TellOptions extends LogOptions, Pick<MonthOptions, 'goOn'> {
  /** Rejects if an account of the month is under a legal hold. */
  readonly expectFree: (db: Queryable) => Promise<void>;
}

/** Tells one log after the other. A broken one keeps no other from being told; returns which are, and why; null: all are told. */
export async function tellLogs(
  options: TellOptions,
  accounts: readonly string[],
  note: ArchiveNote,
): Promise<string | null> {
  const broken: string[] = [];
  for (const account of accounts) {
    await options.goOn();
    await options.expectFree(options.db);
    try {
      await tellLog(options, account, note);
    } catch (error) {
      if (!(error instanceof LogBrokenError)) throw error;
      broken.push(`${account}: ${error.message}`);
    }
  }
  if (broken.length === 0) return null;
  const named = broken.slice(0, mostNamed).join(' ');
  return `Logs that are not whole cannot be told of the archive: ${broken.length}. ${named} Mend them: ./gw admin integrity faults`;
}

async function tellLog(options: TellOptions, accountId: string, note: ArchiveNote): Promise<void> {
  const { db, goOn, now, seals } = options;
  // Before the lock, which all writers of the log wait for. The month is frozen, so the count stays true.
  const before = await entriesOf(db, accountId, note.month);
  const counted = before.length > 0 ? null : await countOf(db, accountId, note.month, goOn);
  const planted = await db.$transaction(async (tx) => {
    await lockLog(tx, accountId);
    // Takes out what somebody else has put there, so that nothing stands behind it.
    const tail = await cleanTail(tx, seals, accountId, await signedSize(tx, accountId));
    if (!(await isTold(tx, accountId, note))) {
      // Not counted yet: what stood there as its entry has just been taken out.
      const receipts = counted ?? (await countOf(tx, accountId, note.month));
      await appendLeaves(tx, seals, accountId, [archivedLeaf(accountId, note, receipts)]);
      const { files_sha256 } = note;
      await appendAudit(tx, now(), { ...archivedFact(note.month), accountId, after: { files_sha256 } });
    }
    return tail.planted;
  }, patient);
  await reportPlanted(seals, accountId, planted);
  // The entry says nothing of which receipts are in the log, so the checkpoint is complete up to where the last one was.
  await signCheckpoint(options, accountId, { until: new Date(0), marks: [] });
}

/** The audit entries of accounts and operators share it. */
export const archivedFact = (month: string): Omit<AuditFact, 'accountId'> => ({
  actor: { kind: 'system', id: 'archive', name: null },
  action: 'gw.archived',
  target: `receipts:${month}`,
  requestId: null,
});

const entriesOf = (tx: Queryable, accountId: string, month: string) => tx.$queryRaw<
  (StoredEntry & { readonly index: number })[]
>`
  SELECT index::float8 AS index, receipt_id, encode(leaf_hash, 'hex') AS leaf, archived FROM receipt_log
  WHERE receipt_id = ${archivedName(month)} AND account_id = ${accountId} ORDER BY receipt_log.index LIMIT 100`;

/** Holds the month up if the log tells of another archive of it: that entry cannot be taken back. */
async function isTold(tx: Queryable, accountId: string, note: ArchiveNote): Promise<boolean> {
  const entries = await entriesOf(tx, accountId, note.month);
  const other = entries.find((entry) => !tellsOf(accountId, entry, note));
  if (other !== undefined)
    throw new ArchiveHeldUpError(
      `Entry ${other.index} of the log of ${accountId} tells of another archive of the month: restore receipt_archives and receipt_archive_files from a backup that has that one.`,
    );
  return entries.length > 0;
}

/** Day by day, since a statement has only seconds. */
async function countOf(
  db: Queryable,
  accountId: string,
  month: string,
  goOn = async (): Promise<void> => {},
): Promise<number> {
  let count = 0;
  for (let from = firstOf(month).getTime(); from < nextMonth(month).getTime(); from += dayMs) {
    const found = await db.$queryRaw<{ count: number }[]>`
      SELECT count(*)::float8 AS count FROM receipts
      WHERE account_id = ${accountId} AND created_at >= ${new Date(from)} AND created_at < ${new Date(from + dayMs)}`;
    count += elementAt(found, 0).count;
    await goOn();
  }
  return count;
}
