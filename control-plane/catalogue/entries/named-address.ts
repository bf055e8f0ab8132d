/**
 * Where an entry lets calls go, judged before it is stored: what its name leads to at this moment.
 *
 * Invariant: it is asked outside of the transaction, which would hold up all other changes while DNS is slow.
 */
import { type ApiError, fieldError } from '@gw/contract/errors';
import { err } from '@gw/contract/internal/result';
import type { AddressGuard } from '@gw/service/address-guard';
import type { EntryKind } from './entry-kind.ts';

type Addressed = Pick<EntryKind<object>, 'address'>;

/** Returns what is wrong with the address that `body` names; null if nothing is, or it names none. */
export async function addressRefusal(guard: AddressGuard, kind: Addressed, body: unknown): Promise<ApiError | null> {
  const named = kind.address?.(body) ?? null;
  const reason = named && (await guard.refusal(named.url));
  if (named === null || reason === null) return null;
  return fieldError(named.field, `${named.field}: leads to an address that is not allowed (${reason}).`);
}

export async function refusedAddress(guard: AddressGuard, kind: Addressed, body: unknown) {
  const refused = await addressRefusal(guard, kind, body);
  return refused && err(refused);
}
