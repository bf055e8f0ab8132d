/**
 * The first operator, who makes all others.
 *
 * Invariant: made only while there is no operator at all, so that neither a credential nor a token that was taken away
 * comes back with the next start.
 */
import type { Actor } from '@gw/contract/internal/audit-chain';
import { dayMs } from '@gw/contract/internal/durations';
import type { Context } from '../../shared/context.ts';
import { appendAudit } from '../audit/append.ts';
import type { FirstOperator } from './config.ts';
import type { Credentials } from './credential.ts';
import { emailDigestOf, hidePerson } from './hidden-person.ts';
import { storeToken } from './operator-tokens.ts';
import { lockOperators } from './operators.ts';

const actor: Actor = { kind: 'system', id: 'first-operator', name: null };
const operator = { id: 'op_first', name: 'First operator', email: 'admin@localhost', role: 'admin' } as const;

/** Makes the first operator with its token, if one is set. Returns false if there is an operator already. */
export async function makeFirstOperator(
  { db, now }: Pick<Context, 'db' | 'now'>,
  credentials: Credentials,
  { credential, token, tokenDays }: FirstOperator,
): Promise<boolean> {
  if ((await db.operator.count()) > 0) return false;
  const credentialHash = await credentials.hash(credential);
  return db.$transaction(async (tx) => {
    await lockOperators(tx);
    if ((await tx.operator.count()) > 0) return false;
    const at = now();
    const hidden = await hidePerson(tx, `operator:${operator.id}`, operator);
    const emailDigest = await emailDigestOf(tx, operator.email);
    await tx.operator.create({ data: { ...hidden, emailDigest, credentialHash, createdAt: at } });
    const { id, ...after } = hidden;
    const target = `operator:${id}`;
    await appendAudit(tx, at, { accountId: null, actor, action: 'operator.created', target, requestId: null, after });
    if (token !== null) {
      const expiresAt = tokenDays === null ? null : new Date(at.getTime() + tokenDays * dayMs);
      const wanted = { id: 'optk_first', operatorId: id, name: 'first', token, expiresAt };
      await storeToken(tx, { actor, at, requestId: null }, wanted);
    }
    return true;
  });
}
