/**
 * Deletes the hash of a key 90 days after its revocation; its record and its audit entries stay.
 *
 * Safe to run in several instances at once: each key is one transaction, whose update only one of them can make.
 */
import type { Actor } from '@gw/contract/internal/audit-chain';
import { restorableMs } from '@gw/contract/keys';
import { appendAudit } from '../audit/append.ts';
import type { Context } from '../context.ts';

const actor: Actor = { kind: 'system', id: 'key-deletion', name: null };
/** Of one run; the next one goes on. */
const batch = 500;

export async function deleteOldHashes({ db, now }: Pick<Context, 'db' | 'now'>): Promise<void> {
  const at = now();
  const before = new Date(at.getTime() - restorableMs);
  const due = await db.$queryRaw<{ public_id: string; account_id: string }[]>`
    SELECT public_id, account_id FROM api_keys WHERE hash IS NOT NULL AND revoked_at <= ${before} LIMIT ${batch}`;
  for (const { account_id, public_id } of due) {
    await db.$transaction(async (tx) => {
      // Once more with the condition: it may have been restored, or deleted by another instance.
      const deleted = await tx.$executeRaw`
        UPDATE api_keys SET hash = NULL
        WHERE public_id = ${public_id}::text AND hash IS NOT NULL AND revoked_at <= ${before}`;
      if (deleted === 0) return;
      const target = `key:${public_id}`;
      await appendAudit(tx, at, { accountId: account_id, actor, action: 'key.hash_deleted', target, requestId: null });
    });
  }
}
