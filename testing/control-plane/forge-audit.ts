/** An audit entry as somebody makes it who can write to the database, and has no key of the gateway. */
import { type AuditEntry, auditHash, firstPrevHash, operatorChain } from '@gw/contract/internal/audit-chain';
import { readHead } from '@gw/control-plane/internals/people/audit/read';
import type { Database } from '@gw/prisma/client';

/** Chains an entry of something that never happened. The seal is any text of the right form. */
export async function forgeAudit(
  db: Database,
  chain: string,
  { action = 'account.suspended', after = { reason: 'never happened' } as unknown } = {},
): Promise<AuditEntry> {
  const head = (await readHead(db, chain)) ?? { seq: 0, hash: firstPrevHash };
  const actor = { kind: 'operator', id: 'op_first', name: 'First operator' } as const;
  const unhashed = {
    chain,
    seq: head.seq + 1,
    at: '2026-11-21T09:30:00.000Z',
    actor,
    action,
    target: `account:${chain}`,
    request_id: null,
    before: null,
    after,
    prev_hash: head.hash,
  };
  const entry = { ...unhashed, hash: auditHash(unhashed) };
  await db.$executeRaw`
    INSERT INTO audit (chain, seq, at, account_id, actor_kind, actor_id, actor_name, action, target, after, prev_hash, hash,
      seal, seal_key)
    VALUES (${chain}, ${entry.seq}, ${entry.at}::timestamptz, ${chain === operatorChain ? null : chain}, ${actor.kind},
      ${actor.id}, ${actor.name}, ${action}, ${entry.target}, ${JSON.stringify(after)}::json, ${entry.prev_hash},
      ${entry.hash}, ${entry.hash}, 1)`;
  return entry;
}
