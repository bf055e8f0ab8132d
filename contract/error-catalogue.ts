/**
 * The error catalogue: every code that a client of the public port can see.
 *
 * Invariant: one code, one type, one status (and 404 where a path names the thing). Codes are stable; messages may change.
 */
import { budgetErrors } from './budget-errors.ts';
import { defineErrors } from './error-definition.ts';
import { limit, limitErrors } from './limit-errors.ts';
import { validationErrors } from './validation-errors.ts';

const auth = { type: 'auth_error', status: 401, retry: 'never', action: 'Fix the key.' } as const;
const policy = { type: 'policy_error', status: 403, retry: 'never' } as const;
const region = { type: 'region_unavailable', status: 503 } as const;
const inference = {
  type: 'inference_error',
  status: 502,
  retry: 'with_backoff',
  action: 'Send it again with backoff.',
  headers: ['x-gw-receipt-id'],
} as const;

const authErrors = defineErrors({
  invalid_api_key: {
    ...auth,
    message: 'The API key is missing, malformed or unknown. Send it as "Authorization: Bearer <API_KEY>".',
    when: 'No key was sent, or the key is malformed or unknown.',
  },
  revoked_api_key: {
    ...auth,
    message: 'This API key was revoked.',
    when: 'The key was revoked (even if it has expired since). The audit log of the account shows who did it.',
    action: 'Use another key, or undo the revocation within 90 days.',
  },
  expired_api_key: {
    ...auth,
    message: 'This API key has expired. Issue a new one.',
    when: 'The key is past its expiry.',
    action: 'Issue a new key.',
  },
  insufficient_scope: {
    ...auth,
    status: 403,
    message: 'This API key lacks the scope that the endpoint needs.',
    when: 'The key is valid but lacks the scope of the endpoint. The message names the scope.',
    action: 'Use a key that holds the scope.',
  },
});

const idempotencyErrors = defineErrors({
  idempotency_in_progress: {
    ...limit,
    message: 'A request with this Idempotency-Key is still running. Send it again to get its reply.',
    when: 'A request to this endpoint with the same `Idempotency-Key` and body has been running for as long as the gateway waits for its reply, 20 s, or too many are waiting already. Nothing was sent to a provider or changed for this one.',
    action: 'Send the same request again after the seconds in Retry-After.',
  },
  idempotency_unavailable: {
    type: 'inference_error',
    status: 503,
    retry: 'with_backoff',
    message:
      'The gateway cannot tell whether a request with this Idempotency-Key has run already. Nothing was sent to a provider or changed; try again.',
    when: 'The request has an `Idempotency-Key`, and the store that knows what was done with it does not answer. Requests without one are served.',
    action:
      'Send it again with backoff, first after the seconds in Retry-After. Without the header the request runs immediately, even if it has run before.',
  },
});

const inferenceErrors = defineErrors({
  upstream_error: {
    ...inference,
    message: 'The model provider failed.',
    when: 'In each region that was tried, the provider answered with a 5xx, broke the connection, could not be reached, or did not know the model that the operator named to it; or the last provider answered 424; or no region serves the model at the moment. `Retry-After` is there if the last provider sent it with a 503 or 529.',
  },
  upstream_timeout: {
    ...inference,
    message: 'The model provider did not answer in time.',
    when: 'The provider was silent for too long, or answered 408 or 504 itself.',
  },
  upstream_rate_limited: {
    ...inference,
    message: 'The model provider is at its own rate limit.',
    when: 'The provider answered 429 in each region that was tried. This says nothing about the limits of this account. `Retry-After` is there if the last provider said when to come back.',
  },
  upstream_invalid_response: {
    ...inference,
    message: 'The model provider sent a reply that could not be read.',
    when: 'The reply is cut off, compressed with an encoding other than gzip, deflate or br, or larger than 64 MiB. Or no region that was tried replied with JSON, but with a page of HTML, for example.',
  },
  upstream_auth_failed: {
    ...inference,
    message: 'The model provider refused the credential of the gateway. Only the operator can fix this.',
    when: 'In each region that was tried, the provider refused the credential of the gateway (401, 403), or the account of the gateway has no credit left there (402, or 429 with `insufficient_quota`). The key of the client is not at fault. `x-should-retry: false` is there if no other deployment was tried.',
    action: 'Send it again with backoff; tell the operator if it persists.',
  },
  upstream_credential_missing: {
    ...inference,
    message: 'The gateway has no credential for the provider of this model. Only the operator can fix this.',
    when: 'The deployment that was tried last lacks the credential that its provider needs, so that provider was not asked; nobody else could answer either. `x-gw-receipt-id` is there if another provider was asked before.',
    action: 'Send it again with backoff; tell the operator if it persists.',
    headers: [],
  },
  overloaded: {
    type: 'inference_error',
    status: 503,
    retry: 'after_retry_after',
    message:
      'The gateway cannot take this request at the moment. Nothing was sent to a provider or changed; try again after the time in Retry-After.',
    when: 'A part of the gateway, or a store that it needs, is down, is just starting or does not answer, and nothing was done yet. Or a part has reached its limit of work or memory, for this account or for everybody; large bodies are refused first. Or each deployment that was tried for the call has as many calls as it takes concurrently, or cannot take any.',
    action: 'Wait for the seconds in Retry-After; send fewer large bodies concurrently.',
  },
});

const policyErrors = defineErrors({
  dual_use_screen_block: {
    ...policy,
    message: 'The request was blocked by dual-use screening.',
    when: 'A rule against dual use matches the text of the request. The text is not kept.',
    action: 'Review the use case; a dispute goes to the audit contact that the message names.',
  },
  acceptable_use_violation: {
    ...policy,
    message: 'The request matches a published pattern of unacceptable use.',
    when: 'A rule of the acceptable-use policy matches the text of the request. The text is not kept.',
    action: 'Review the use case. The message names the rule; `GET /v1/use-policy` lists the rules in force.',
  },
  customer_suspended: {
    ...policy,
    message: 'This account is suspended pending review.',
    when: 'The account is suspended. It gets no inference and no new keys, but it can still read, and revoke keys.',
    action: 'Contact the operator.',
  },
});

const regionErrors = defineErrors({
  region_degraded: {
    ...region,
    retry: 'never',
    message: 'The pinned region is in incident mode.',
    when: 'The region in `gw.region` has an incident that will last longer than a client library waits, or its providers could not be reached for a while, or none of them is healthy. The message says which, and names the status page.',
    action: 'Send it without the region pin, or again when the status page says that the incident is over.',
  },
  region_saturated: {
    ...region,
    retry: 'with_backoff',
    message: 'The pinned region is at capacity.',
    when: 'The region in `gw.region` cannot take more calls at the moment, for one of three reasons: an operator marked it as saturated; its providers refused several calls in a row, in which case there is a `Retry-After`; or each of its deployments that was tried already has as many concurrent calls of the gateway as it takes.',
    action: 'Send it again with backoff, or without the region pin.',
  },
  region_decommissioned: {
    ...region,
    retry: 'never',
    message: 'The region is no longer offered.',
    when: 'The region in `gw.region` was closed permanently.',
    action: 'Choose another region, or none.',
  },
});

const gatewayErrors = defineErrors({
  receipt_generation_failed: {
    type: 'methodology_error',
    status: 500,
    retry: 'with_backoff',
    message: 'The receipt could not be made; the inference may have succeeded.',
    when: 'The provider answered, but not even a degraded receipt could be put into its reply; or the lineage of a receipt does not reproduce its numbers.',
    action: 'Send it again with backoff. The provider may have done the work already.',
  },
  receipt_integrity_failed: {
    type: 'methodology_error',
    status: 500,
    retry: 'with_backoff',
    message: 'This receipt was altered in storage after it was made, so it is not shown. The operator has been told.',
    when: 'The stored receipt, or what it was made from, does not match its digest, or its digest is not sealed by the gateway.',
    action:
      'Keep the copy that came with the reply: it is the genuine one. Only the operator can restore the stored one.',
  },
  internal_error: {
    type: 'internal_error',
    status: 500,
    retry: 'with_backoff',
    message: 'The gateway failed. Nothing in the request is at fault.',
    when: 'A part of the gateway failed, or went away when it may have begun a change.',
    action: 'Send it again with backoff; quote the x-request-id when you ask for help.',
  },
});

export const errorCatalogue = defineErrors({
  ...authErrors,
  ...validationErrors,
  ...limitErrors,
  ...budgetErrors,
  ...idempotencyErrors,
  ...inferenceErrors,
  ...regionErrors,
  ...policyErrors,
  ...gatewayErrors,
});

export type CatalogueCode = keyof typeof errorCatalogue;

/** Represents the codes `invalid_<field>`; there is one for each field of a request. */
export const fieldErrors = defineErrors({
  invalid_field: {
    type: 'validation_error',
    status: 400,
    retry: 'never',
    message:
      'Stands for the family invalid_<field>: the field named in error.param has the wrong type or value, for example invalid_temperature.',
    when: 'A field of the body or a parameter of the query has the wrong type or value, or the endpoint does not take it. `param` is its path, and the code is made from the last name in that path.',
    action: 'Fix the field.',
  },
});
