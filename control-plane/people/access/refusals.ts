/** The errors of the operator listener beside those of the public API, with the same error object. */
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import { err, type Result } from '@gw/contract/internal/result';
import type { OperatorThing } from '@gw/contract/operator-errors';
import type { OperatorRole } from '../../shared/principal.ts';

/** Nobody is logged in, or nobody any more. */
export const notLoggedIn = (): ApiError => apiError('invalid_session');

/** The same for an unknown person, a wrong credential and a disabled person. */
export const loginFailed = (): ApiError => apiError('invalid_login');

/** E-mail and credential are right, and a code is asked for. */
export const secondFactorNeeded = (): ApiError => apiError('second_factor_needed');

export const secondFactorWrong = (): ApiError => apiError('invalid_second_factor');

/** Fail-closed: a code that cannot be checked lets nobody in. */
export const secondFactorSealed = (): ApiError =>
  apiError('invalid_second_factor', {
    message:
      'The code cannot be checked: GW_CREDENTIALS_KEY of the control plane does not open the second factor. Set the key that it was made with, or have an admin reset the credential.',
  });

/** Too many wrong codes: nothing but another secret helps. */
export const secondFactorLocked = (): ApiError =>
  apiError('invalid_second_factor', {
    message: 'Too many codes were wrong, so that none is taken any more. Have an admin reset the credential.',
  });

/** A request that another site may have made the browser send. */
export const crossSite = (): ApiError => apiError('invalid_origin');

export const roleNeeded = (role: OperatorRole): ApiError =>
  apiError('insufficient_scope', { message: `This needs the operator role ${role}.` });

/** Somebody asks for a token in the name of another operator. */
export const notYours = (): ApiError =>
  apiError('insufficient_scope', { message: 'Operators can make tokens only for themselves.' });

/** A token asks for a reply of before that was made for somebody who had proved to be the same person in another way. */
export const madeOtherwise = (): ApiError =>
  apiError('insufficient_scope', {
    message:
      'This change was made with another token or a session, and is confirmed again to that one, or to a session.',
  });

export const organisationAdminNeeded = (): ApiError =>
  apiError('insufficient_scope', { message: 'Only admins of an organisation may do this.' });

/** `retryAfterS` is how long the client has to wait, in whole seconds. */
export const tooManyLogins = (retryAfterS: number): ApiError =>
  apiError('too_many_logins', {
    message: `Too many logins have failed. The next one is heard in ${retryAfterS} s.`,
    retryAfterS,
  });

/** 409: the state that the thing is in does not allow this change. */
export const invalidTransition = (message: string): ApiError => apiError('invalid_transition', { message });

/** No identity provider is set up whose identities could be bound. */
export const noIssuer = (): ApiError => invalidTransition('No identity provider is set up for this login.');
export const alreadyBound = (): ApiError =>
  invalidTransition('An identity is bound to this person already. Unbind it first.');
export const subjectTaken = (): ApiError => fieldError('subject', 'subject: is bound to somebody else already.');

/** The code names the kind of thing: `invalid_account`, `invalid_operator`. */
export const notFound = (thing: OperatorThing, message = `There is no such ${thing.replaceAll('_', ' ')}.`): ApiError =>
  apiError(`invalid_${thing}`, { status: 404, message });

/** Too many credentials are being made: each takes as long as a login. */
export const tooManyAtOnce = (): Refusal =>
  err(
    apiError('too_many_logins', {
      message: 'Too many credentials are being made at once. Try again in 1 s.',
      retryAfterS: 1,
    }),
  );

/** The outcome of a change: the value if it was made, or the error if it was refused and nothing has changed. */
export type ChangeResult<T> = Result<T, ApiError>;
export type Refusal = Result<never, ApiError>;

/** Refuses with `too_many_logins`; `waitMs` is rounded up to whole seconds. */
export function slowDown(waitMs: number): Refusal {
  return err(tooManyLogins(Math.max(1, Math.ceil(waitMs / 1000))));
}
