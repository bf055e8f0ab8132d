/** Why a key is not issued or changed: values, with one mapper for the public API and one for the operators' port. */
import type { Scope } from '@gw/contract/access';
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import { invalidTransition } from '../access/refusals.ts';

export type KeyRefusal =
  | { readonly why: 'unknown_account' | 'unknown_key' | 'expiry_not_offered' | 'expiry_past' }
  | { readonly why: 'scope_not_granted'; readonly scope: Scope; readonly byKey: boolean; readonly inherited: boolean }
  /** In a state in which nothing that opens a door may be done. */
  | { readonly why: 'account_not_active'; readonly state: string }
  | { readonly why: 'revoked' | 'too_late' | 'people_only' | 'too_many' };

/** Keys of one account whose hash is kept; revoked ones count for 90 days. */
export const mostKeys = 1000;

export function publicError(refusal: KeyRefusal): ApiError {
  switch (refusal.why) {
    // Another account's key is as unknown as none.
    case 'unknown_account':
    case 'unknown_key':
      return apiError('key_not_found', { param: 'key_id' });
    case 'account_not_active':
      return apiError('customer_suspended');
    case 'scope_not_granted':
      return fieldError('scopes', scopeText(refusal));
    case 'expiry_not_offered':
      return fieldError('expires_at', 'An expiry needs the tier Audit Plus or Enterprise.');
    case 'expiry_past':
      return fieldError('expires_at', '`expires_at` has to be in the future.');
    case 'revoked':
      return apiError('key_is_revoked', { param: 'key_id' });
    case 'too_late':
      return apiError('key_not_restorable', { param: 'key_id' });
    case 'people_only':
      return apiError('key_not_restorable', {
        param: 'key_id',
        message:
          'A key with the scope admin:keys is restored by an admin of the organisation or by the operator alone.',
      });
    case 'too_many':
      return apiError('too_many_keys');
  }
}

/** The operators' port: 409 for what the state of a key or of its account does not allow. */
export function peopleError(refusal: KeyRefusal): ApiError {
  if (refusal.why === 'account_not_active')
    return invalidTransition(`The account is in the state ${refusal.state}: no key is issued or restored.`);
  const error = publicError(refusal);
  const stateForbids = refusal.why === 'revoked' || refusal.why === 'too_late';
  return stateForbids ? { ...invalidTransition(error.message), param: error.param } : error;
}

function scopeText({ scope, byKey, inherited }: Extract<KeyRefusal, { why: 'scope_not_granted' }>): string {
  const subject = inherited ? `The predecessor holds ${scope}, which` : `The scope ${scope}`;
  const reason =
    scope === 'admin:keys' && byKey
      ? 'is granted by an admin of the organisation or by the operator alone, never by a key.'
      : 'needs the tier Audit Plus or Enterprise.';
  return `${subject} ${reason}${inherited ? ' Name the scopes of the successor.' : ''}`;
}
