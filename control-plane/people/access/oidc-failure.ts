/**
 * Why a login with an identity provider fails, in fixed sentences: the page of the login shows them to whoever comes back, and nothing
 * that came with the request. What the log says beside it is `detail`, which holds no secret.
 */
import { err, type Result } from '@gw/contract/internal/result';
import { counter } from '@gw/service/metric';

export const oidcReasons = {
  no_provider: 'No identity provider is set up for this login. Log in with a credential.',
  provider_away: 'The identity provider is unavailable. Try again in a minute, or log in with a credential.',
  issuer_mismatch:
    'The identity provider reports another issuer than the one configured here. An operator has to correct it.',
  client_refused:
    'The identity provider rejects the client ID or the secret of this gateway. An operator has to correct it.',
  provider_error: 'The identity provider returned an error. Operators find it in the log of the control plane.',
  denied: 'This login was denied or cancelled at the identity provider.',
  expired: 'This login took longer than ten minutes, began in another browser, or is already complete. Start again.',
  clock:
    'The clocks of the identity provider and of this gateway differ by more than a minute. An operator has to correct them.',
  token_invalid: 'The response of the identity provider could not be verified. Start again.',
  claim_missing:
    'The identity provider did not send the claim that identifies you here. An operator has to correct the configuration.',
  not_verified: 'The identity provider does not report your e-mail address as verified.',
  wrong_domain: 'Your e-mail address does not belong to the domain of this identity provider.',
  unknown_person: 'You have no login here yet. Ask an admin to create one.',
  bound_otherwise: 'Your login is bound to another identity at the identity provider. An admin has to unbind it first.',
  disabled: 'Your login is disabled.',
  unavailable: 'The gateway could not complete this login because a store is unavailable. Try again in a minute.',
  too_many_logins: 'Too many failed logins from your address. Try again in a few minutes.',
} as const;
export type OidcReason = keyof typeof oidcReasons;

export interface OidcFailure {
  readonly reason: OidcReason;
  /** For the log: names of claims, codes and addresses, never their secrets. */
  readonly detail: string;
}

export const oidcFailed = (reason: OidcReason, detail: string): Result<never, OidcFailure> => err({ reason, detail });

/** The page that a failed login leads to. */
export const failedLoginPage = (kind: OidcKind, reason: OidcReason): string =>
  `/dashboard/?${new URLSearchParams({ login_failed: reason, as: kind })}`;

/** The sentence for the parameter of that page; empty for anything else. */
export const failedLoginText = (parameter: unknown): string =>
  typeof parameter === 'string' && Object.hasOwn(oidcReasons, parameter) ? oidcReasons[parameter as OidcReason] : '';

const kinds = ['operator', 'organisation_admin'] as const;
export type OidcKind = (typeof kinds)[number];

export const oidcLogins = () =>
  counter('gw_oidc_logins_total', 'Logins with an identity provider, by whom it is for and how they ended', {
    kind: kinds,
    outcome: ['logged_in', ...(Object.keys(oidcReasons) as OidcReason[])],
  });
