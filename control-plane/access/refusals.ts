/**
 * What the operator listener refuses with, beyond the catalogue of the public API: the same error object, other codes.
 * They are none of the public API's, so its catalogue does not list them.
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import type { OperatorRole } from './principal.ts';

const authError = (code: `invalid_${string}`, status: number, message: string): ApiError => ({
  code,
  type: 'auth_error',
  status,
  message,
  param: null,
});

/** Nobody is logged in, or no more. */
export const notLoggedIn = (): ApiError =>
  authError('invalid_session', 401, 'Log in, or send an operator token as "Authorization: Bearer <token>".');

/** The same for an unknown person, a wrong credential and a disabled person. */
export const loginFailed = (): ApiError => authError('invalid_login', 401, 'The e-mail or the credential is wrong.');

/** A request that another site may have made the browser send. */
export const crossSite = (): ApiError =>
  authError('invalid_origin', 403, 'A change needs the header "x-gw-csrf: 1" and has to come from the same origin.');

export const identityProviderAway = (): ApiError => ({
  code: 'invalid_login',
  type: 'internal_error',
  status: 502,
  message: 'The identity provider does not answer. Log in with a credential, or try again.',
  param: null,
});

export const roleNeeded = (role: OperatorRole): ApiError =>
  apiError('insufficient_scope', { message: `This needs the role ${role} of an operator.` });

export const notYours = (): ApiError =>
  apiError('insufficient_scope', { message: 'An operator makes tokens only in the own name.' });

export const organisationAdminNeeded = (): ApiError =>
  apiError('insufficient_scope', { message: 'This is for the admins of an organisation.' });

/** `waitS`: whole seconds until the next attempt is heard. */
export const tooManyLogins = (waitS: number): ApiError => ({
  code: 'invalid_login',
  type: 'rate_limit_error',
  status: 429,
  message: `Too many logins have failed. The next one is heard in ${waitS} s.`,
  param: null,
});

/** A change that must not happen in the state that the thing is in. */
export const invalidTransition = (message: string): ApiError => ({
  code: 'invalid_transition',
  type: 'validation_error',
  status: 409,
  message,
  param: null,
});

/** The code names the kind of thing: `invalid_account`, `invalid_operator`. */
export const notFound = (kind: string, message = `There is no such ${kind.replaceAll('_', ' ')}.`): ApiError => ({
  code: `invalid_${kind}`,
  type: 'validation_error',
  status: 404,
  message,
  param: null,
});

/** What a change comes to: done, or refused with nothing changed. */
export type Outcome<T> = { readonly done: T } | Refusal;

export interface Refusal {
  readonly refused: ApiError;
  /** Whole seconds, at least 1, where waiting helps. */
  readonly retryAfterS?: number;
}
