/**
 * Who asks for a change of keys, and whether it may still be done for them.
 *
 * Invariant: the identity of a call is as old as its headers; its body, or a lock, may have come much later. So whoever
 * asks is held and looked at again in the transaction of the change: a revocation of the calling key comes wholly
 * before the change, which is refused then, or wholly after it.
 */
import type { Scope } from '@gw/contract/access';
import { type ApiError, apiError } from '@gw/contract/errors';
import type { Actor } from '@gw/contract/internal/audit-chain';
import { workingScopes } from '@gw/contract/keys';
import type { Queryable } from '@gw/prisma/client';
import { type Grant, reauthorize } from '../access/reauthorize.ts';
import { holdKeyRows, type KeyRow, stateOf } from './key-row.ts';

/** Who asks for a change. The audit log names them, and an API key may do less than a person. */
export interface Caller {
  readonly actor: Actor;
  readonly requestId: string | null;
  /** The grant of a person whom the guard let in; absent for an API key. */
  readonly grant?: Grant;
}

/** The key that `holdForChange` has locked, and whether the caller may change it. */
export interface HeldKey {
  /** Null if this account has no such key, or if none was asked for. */
  readonly row: KeyRow | null;
  /** Why the caller may not make the change, or no longer; null if it may. */
  readonly refusal: ApiError | null;
}

/** Locks the key `id` and whoever asks until `tx` ends. Null as `id` stands for a key that is still to be made. */
export async function holdForChange(
  tx: Queryable,
  accountId: string,
  id: string | null,
  { actor, grant }: Caller,
  at: Date,
): Promise<HeldKey> {
  const refusalOfPerson = grant === undefined ? null : await reauthorize(tx, grant);
  const byKey = actor.kind === 'api_key';
  const rows = await holdKeyRows(tx, accountId, [...(id === null ? [] : [id]), ...(byKey ? [actor.id] : [])]);
  const find = (wanted: string | null): KeyRow | null => rows.find((row) => row.public_id === wanted) ?? null;
  return { row: find(id), refusal: byKey ? refusalOfKey(find(actor.id), at) : refusalOfPerson };
}

/**
 * Returns why a key may not do what needs `scope`, by default change keys, or null if it may. Null as `row`: its account has
 * no such key.
 */
export function refusalOfKey(row: KeyRow | null, at: Date, scope: Scope = 'admin:keys'): ApiError | null {
  if (row === null) return apiError('invalid_api_key');
  const state = stateOf(row, at);
  if (state === 'revoked') return apiError('revoked_api_key');
  if (state === 'expired') return apiError('expired_api_key');
  if (workingScopes(row.scopes, row.tier).includes(scope)) return null;
  const message = `This API key lacks the scope ${scope}, which the endpoint needs.`;
  return apiError('insufficient_scope', { message });
}
