/**
 * Codes that occur only on the operators' port, in addition to those of the public catalogue and in the same form.
 *
 * Invariant: one code, one type, one status; a missing thing gives 400 if the body names it, 404 if the path does.
 */
import { defineErrors } from './error-definition.ts';

const login = { type: 'auth_error', status: 401, retry: 'never' } as const;
const missing = (thing: string) =>
  ({
    type: 'validation_error',
    status: 400,
    pathStatus: 404,
    retry: 'never',
    message: `There is no such ${thing}.`,
    when: `The path, or a field of the body, names no ${thing} that exists.`,
    action: 'Fix the request.',
  }) as const;

export const operatorErrorCatalogue = defineErrors({
  invalid_session: {
    ...login,
    message: 'Log in, or send an operator token as "Authorization: Bearer <token>".',
    when: 'Nobody is logged in: there is no session or token, or it has ended.',
    action: 'Log in.',
  },
  invalid_login: {
    ...login,
    message: 'The e-mail or the credential is wrong.',
    when: 'The person is unknown or disabled, or the credential is wrong: the reply does not tell which.',
    action: 'Check e-mail and credential.',
  },
  second_factor_needed: {
    ...login,
    message: 'This person has a second factor. Send its code too, as "code".',
    when: 'The e-mail and the credential are right, the person has a second factor, and no code was sent.',
    action: 'Send the code that the authenticator shows.',
  },
  invalid_second_factor: {
    ...login,
    message: 'The code of the second factor is wrong, or was used before.',
    when: 'The code is for another time or another secret, or a code for that time was used already. An admin who resets the credential removes the second factor.',
    action: 'Wait for the next code, and check the clock of the authenticator.',
  },
  invalid_origin: {
    ...login,
    status: 403,
    message: 'A change needs the header "x-gw-csrf: 1" and must come from the same origin.',
    when: 'A change with a session cookie came without that header, or from another origin.',
    action: 'Fix the request.',
  },
  too_many_logins: {
    type: 'rate_limit_error',
    status: 429,
    retry: 'after_retry_after',
    message: 'Too many logins have failed. Wait for the seconds in Retry-After.',
    when: 'Too many logins have failed for one person, from one address or in all, or too many wait to be checked.',
    action: 'Wait for the seconds in Retry-After.',
  },
  provider_unavailable: {
    type: 'internal_error',
    status: 502,
    retry: 'with_backoff',
    message: 'The provider does not answer as it should.',
    when: 'A provider that an operator asked for its models is unavailable, refuses its credential, or answers something else. The message says which.',
    action: 'Fix what the message names, then try again.',
  },
  invalid_transition: {
    type: 'validation_error',
    status: 409,
    retry: 'never',
    message: 'The current state does not allow this change.',
    when: 'The state of an account, a key, an application or an entry of the catalogue does not allow the change. If two people act at the same time, the second one gets this error.',
    action: 'Read the current state, then decide.',
  },
  invalid_account: missing('account'),
  invalid_account_issuer: missing('account issuer'),
  invalid_alias: missing('alias'),
  invalid_price: missing('price'),
  invalid_application: missing('application'),
  invalid_budget: missing('budget'),
  invalid_budget_webhook: missing('budget webhook'),
  invalid_deployment: missing('deployment'),
  invalid_energy_contract: missing('energy contract'),
  invalid_integrity_fault: missing('integrity fault'),
  invalid_legal_hold: missing('legal hold'),
  invalid_operator: missing('operator'),
  invalid_operator_token: missing('operator token'),
  invalid_organisation_admin: missing('organisation admin'),
  invalid_policy_exemption: missing('policy exemption'),
  invalid_policy_rule: missing('policy rule'),
  invalid_policy_version: missing('policy version'),
  invalid_provider: missing('provider'),
  invalid_receipt: missing('receipt'),
  invalid_provider_credential: missing('provider credential'),
});

export type OperatorCode = keyof typeof operatorErrorCatalogue;

type NameIn<Code> = Code extends `invalid_${infer Name}` ? Name : never;
/** Things that an operator's request can name and that may be missing. */
export type OperatorThing = NameIn<OperatorCode> | 'model' | 'region';
