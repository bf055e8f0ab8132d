/**
 * Tells the log and the audit chain of each account that a month of its receipts is archived.
 *
 * Invariant: an account is told once of a month, however often this dies and begins again: the entry of its log and that of its audit chain are one
 * transaction, under the lock that all writers of the log take. When this resolves, a signed checkpoint is over each entry.
 */
import { elementAt } from '@gw/contract/internal/defined';
import { dayMs } from '@gw/contract/internal/durations';
import type { Queryable } from '@gw/prisma/client';
import { type AuditFact, appendAudit } from '../../people/audit/append.ts';
import type { LogOptions } from '../log/append.ts';
import { archivedLeaf, archivedName } from '../log/archived-leaf.ts';
import { signCheckpoint } from '../log/sign.ts';
import { cleanTail, reportPlanted, signedSize } from '../log/tail.ts';
import { appendLeaves, lockLog } from '../log/tree.ts';
import { type ArchiveNote, firstOf, nextMonth } from '../receipts/archive-notes.ts';

const patient = { timeout: 60_000, maxWait: 10_000 };

export async function tellLog(options: LogOptions, accountId: string, note: ArchiveNote): Promise<void> {
  const { db, now, seals } = options;
  const planted = await db.$transaction(async (tx) => {
    await lockLog(tx, accountId);
    // Nothing is put behind what somebody else has put there.
    const tail = await cleanTail(tx, seals, accountId, await signedSize(tx, accountId));
    if (!(await isTold(tx, accountId, note.month))) {
      const receipts = await countOf(tx, accountId, note.month);
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

async function isTold(tx: Queryable, accountId: string, month: string): Promise<boolean> {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM receipt_log WHERE receipt_id = ${archivedName(month)} AND account_id = ${accountId} LIMIT 1`;
  return found.length > 0;
}

/** Day by day, since a statement has only seconds. */
async function countOf(db: Queryable, accountId: string, month: string): Promise<number> {
  let count = 0;
  for (let from = firstOf(month).getTime(); from < nextMonth(month).getTime(); from += dayMs) {
    const found = await db.$queryRaw<{ count: number }[]>`
      SELECT count(*)::float8 AS count FROM receipts
      WHERE account_id = ${accountId} AND created_at >= ${new Date(from)} AND created_at < ${new Date(from + dayMs)}`;
    count += elementAt(found, 0).count;
  }
  return count;
}
