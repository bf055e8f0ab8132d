/**
 * Whether who was let in may still do what was asked, looked at again in the transaction that does it.
 *
 * Invariant: between the look of the guard and the change there may be a body that comes slowly, a queue, or a lock
 * that is waited for. A person who is disabled or demoted meanwhile, and a session or token that is ended, comes wholly
 * before the change, which is refused then, or wholly after it: `tx` holds the person and the proof until it ends.
 */
import type { ApiError } from '@gw/contract/errors';
import type { Queryable } from '@gw/prisma/client';
import type { OperatorRole, Principal } from '../../shared/principal.ts';
import { type Access, refusalOfRole } from './guard.ts';
import { notLoggedIn } from './refusals.ts';

/** Whom the guard has let in, where, and when. */
export interface Grant {
  readonly principal: Principal;
  readonly access: Access;
  readonly at: Date;
}

/**
 * Returns why the change may no longer be made, or null if it may. `tx` has to be a transaction. Call this before `tx`
 * locks rows that others lock after a person's: otherwise the two wait for each other.
 */
export async function reauthorize(tx: Queryable, { access, at, principal }: Grant): Promise<ApiError | null> {
  const now = await holdPerson(tx, principal);
  if (now === null || !(await holdProof(tx, principal, at))) return notLoggedIn();
  return refusalOfRole(access, now);
}

/** Returns the person as they are now; null if disabled or gone. */
async function holdPerson(tx: Queryable, principal: Principal): Promise<Principal | null> {
  const { id } = principal;
  if (principal.kind === 'operator') {
    const [operator] = await tx.$queryRaw<{ role: OperatorRole | null }[]>`SELECT hold_operator(${id}) AS role`;
    return operator?.role ? { ...principal, role: operator.role } : null;
  }
  const [admin] = await tx.$queryRaw<{ account_id: string | null }[]>`
    SELECT hold_organisation_admin(${id}) AS account_id`;
  return admin?.account_id ? { ...principal, accountId: admin.account_id } : null;
}

async function holdProof(tx: Queryable, { id, kind, proof }: Principal, at: Date): Promise<boolean> {
  if (proof === null) return false;
  const [found] =
    proof.kind === 'token'
      ? await tx.$queryRaw<{ held: boolean | null }[]>`SELECT hold_operator_token(${proof.id}, ${at}) AS held`
      : await tx.$queryRaw<{ held: boolean | null }[]>`SELECT hold_session(${kind}, ${id}, ${proof.id}, ${at}) AS held`;
  return found?.held === true;
}
