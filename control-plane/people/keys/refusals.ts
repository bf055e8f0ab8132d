/** Why a key is not issued or changed: values, with one mapper for the public API and one for the operators' port. */
import type { Scope } from '@gw/contract/access';
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import { invalidTransition } from '../access/refusals.ts';

export type KeyRefusal =
  | { readonly why: 'unknown_account' | 'unknown_key' | 'expiry_not_offered' | 'expiry_past' | 'limits_not_offered' }
  /** The account itself has no more than `most`. */
  | { readonly why: 'limits_too_wide'; readonly field: string; readonly most: number }
  /** The key that asks has no more than `most`. */
  | { readonly why: 'limits_above_own'; readonly field: string; readonly most: number }
  /** The key that asks is for this project alone. */
  | { readonly why: 'project_not_own'; readonly project: string }
  /** Whoever asks may not, or no longer. */
  | { readonly why: 'caller'; readonly error: ApiError }
  | { readonly why: 'scope_not_granted'; readonly scope: Scope; readonly byKey: boolean; readonly inherited: boolean }
  /** One that is active. */
  | { readonly why: 'has_successor'; readonly successor: string }
  /** The account is in a state in which no key is issued or restored. */
  | { readonly why: 'account_not_active'; readonly state: string }
  | { readonly why: 'revoked' | 'too_late' | 'pepper_retired' | 'people_only' | 'too_many' | 'too_many_today' };

/** How many valid keys an account can have, by who asks for one more, and how many keys can issue within 24 hours. */
export const mostKeys = { byKey: 1000, byPeople: 2000, byKeyInADay: 200 } as const;

/** The error of the public API, where the key of another account is as unknown as one that does not exist. */
export function publicError(refusal: KeyRefusal): ApiError {
  switch (refusal.why) {
    case 'caller':
      return refusal.error;
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
    case 'limits_not_offered':
      return fieldError('limits', 'Limits of a key need the tier Enterprise.');
    case 'limits_too_wide':
      return fieldError('limits', `limits: ${refusal.field} is above what the account has (${refusal.most}).`);
    case 'limits_above_own':
      return fieldError(
        'limits',
        `limits: ${refusal.field} has to be ${refusal.most} at most, which is what the key that asks has itself.`,
      );
    case 'project_not_own':
      return fieldError('project', ownProjectText(refusal));
    case 'expiry_past':
      return fieldError('expires_at', '`expires_at` has to be in the future.');
    case 'revoked':
      return apiError('key_is_revoked', { param: 'key_id' });
    case 'has_successor':
      return apiError('key_has_successor', {
        param: 'key_id',
        message: `This key has a successor that is active: ${refusal.successor}. Use that one; if its secret was lost, revoke it and rotate again.`,
      });
    case 'too_late':
      return apiError('key_not_restorable', { param: 'key_id' });
    case 'pepper_retired':
      return apiError('key_not_restorable', {
        param: 'key_id',
        message:
          'The secret that this key was hashed with is no longer in use, so it cannot work again. Create a new key.',
      });
    case 'people_only':
      return apiError('key_not_restorable', {
        param: 'key_id',
        message:
          'A key with the scope admin:keys is restored by an admin of the organisation or by the operator alone.',
      });
    case 'too_many':
      return apiError('too_many_keys');
    case 'too_many_today':
      return apiError('too_many_keys', {
        message: `Keys have issued ${mostKeys.byKeyInADay} keys of this account within a day. People may issue further ones.`,
      });
  }
}

/** The error of the operators' port: 409 if the state of the key or of its account forbids the change. */
export function peopleError(refusal: KeyRefusal): ApiError {
  if (refusal.why === 'account_not_active')
    return invalidTransition(`The account is in the state ${refusal.state}: no key is issued or restored.`);
  const error = publicError(refusal);
  const stateForbids = ['revoked', 'has_successor', 'too_late', 'pepper_retired'].includes(refusal.why);
  return stateForbids ? { ...invalidTransition(error.message), param: error.param } : error;
}

const ownProjectText = ({ project }: Extract<KeyRefusal, { why: 'project_not_own' }>): string =>
  `project: has to be ${project}, as that of the key that asks. People may issue keys for other projects.`;

function scopeText({ scope, byKey, inherited }: Extract<KeyRefusal, { why: 'scope_not_granted' }>): string {
  const subject = inherited ? `The predecessor holds ${scope}, which` : `The scope ${scope}`;
  const reason =
    scope === 'admin:keys' && byKey
      ? 'is granted by an admin of the organisation or by the operator alone, never by a key.'
      : 'needs the tier Audit Plus or Enterprise.';
  return `${subject} ${reason}${inherited ? ' Name the scopes of the successor.' : ''}`;
}
