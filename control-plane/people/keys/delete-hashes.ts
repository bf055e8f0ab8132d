/**
 * Deletes the hash of a key 90 days after its revocation; its record and its audit entries stay.
 *
 * Safe to run in several instances at once: each key is one transaction, whose update only one of them can make. A key
 * that cannot be dealt with, as when somebody has broken the audit chain of its account, holds up no other.
 */
import type { Actor } from '@gw/contract/internal/audit-chain';
import type { Context } from '../../shared/context.ts';
import { appendAudit } from '../audit/append.ts';
import { restorableMs } from './key-row.ts';

const actor: Actor = { kind: 'system', id: 'key-deletion', name: null };
const batch = 500;

interface JobContext extends Pick<Context, 'db' | 'now'> {
  readonly log: Pick<Context['log'], 'error'>;
}

/** Never rejects for one key: what cannot be deleted is logged, and tried again in the next run. */
export async function deleteOldHashes({ db, log, now }: JobContext): Promise<void> {
  const at = now();
  const before = new Date(at.getTime() - restorableMs);
  for (let after = ''; ; ) {
    const due = await db.$queryRaw<DueKey[]>`
      SELECT public_id, account_id FROM api_keys
      WHERE hash IS NOT NULL AND revoked_at <= ${before} AND public_id > ${after}::bpchar ORDER BY public_id LIMIT ${batch}`;
    for (const key of due)
      await deleteHash(db, key, before, at).catch((error: unknown) =>
        log.error({ err: error, key: key.public_id }, 'the hash of a revoked key was not deleted'),
      );
    const last = due.at(-1);
    if (last === undefined || due.length < batch) return;
    after = last.public_id;
  }
}

interface DueKey {
  readonly public_id: string;
  readonly account_id: string;
}

const deleteHash = (db: Context['db'], { account_id, public_id }: DueKey, before: Date, at: Date): Promise<void> =>
  db.$transaction(async (tx) => {
    // Once more with the condition: it may have been restored, or deleted by another instance.
    const deleted = await tx.$executeRaw`
      UPDATE api_keys SET hash = NULL
      WHERE public_id = ${public_id}::text AND hash IS NOT NULL AND revoked_at <= ${before}`;
    if (deleted === 0) return;
    const target = `key:${public_id}`;
    await appendAudit(tx, at, { accountId: account_id, actor, action: 'key.hash_deleted', target, requestId: null });
  });
