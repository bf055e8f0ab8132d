/**
 * Why a login with an identity provider fails, in fixed sentences: the page of the login shows them to whoever comes back, and nothing
 * that came with the request. What the log says beside it is `detail`, which holds no secret.
 */
import { err, type Result } from '@gw/contract/internal/result';
import { counter } from '@gw/service/metric';

export const oidcReasons = {
  no_provider: 'No identity provider is set up for this login. Log in with a credential.',
  provider_away:
    'The identity provider does not answer as it should. Try again in a minute, or log in with a credential.',
  issuer_mismatch:
    'The identity provider calls itself by another address than the one that is set here. An operator has to correct it.',
  client_refused:
    'The identity provider refuses the client or the secret of this gateway. An operator has to correct it.',
  provider_error: 'The identity provider reports an error. The log of the control plane names it.',
  denied: 'The identity provider says that this login was denied or given up.',
  expired:
    'This login took longer than ten minutes, was begun in another browser, or was finished already. Begin it again.',
  clock:
    'The clocks of the identity provider and of this gateway differ by more than a minute. An operator has to correct it.',
  token_invalid: 'What the identity provider sent could not be verified, so that nobody was let in. Begin again.',
  claim_missing:
    'The identity provider did not say who you are in the way that is set here. An operator has to correct one of the two.',
  not_verified: 'The identity provider does not say that your e-mail address is verified.',
  wrong_domain: 'Your address does not belong to the domain that this identity provider is used for.',
  unknown_person: 'The identity provider knows you, but nobody has made a login for you here. Ask an admin for one.',
  bound_otherwise:
    'Your login here belongs to another identity at the identity provider. An admin has to unbind it first.',
  disabled: 'Your login here is disabled.',
  unavailable: 'The gateway could not finish this login, as one of its stores does not answer. Try again in a minute.',
  too_many_logins:
    'Too many logins with the identity provider have failed from your address. Try again in some minutes.',
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
