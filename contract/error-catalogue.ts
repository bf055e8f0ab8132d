/**
 * The error catalogue: every code that a client of the public port can see.
 *
 * Invariant: one code, one type, one status. Codes are stable; messages may change.
 */

export type ErrorType =
  | 'auth_error'
  | 'validation_error'
  | 'rate_limit_error'
  | 'inference_error'
  | 'region_unavailable'
  | 'policy_error'
  | 'methodology_error'
  | 'internal_error';

export interface ErrorDefinition {
  readonly type: ErrorType;
  readonly status: number;
  /** The text that a client sees unless the place that raises the error has a more exact one. */
  readonly message: string;
  /** What the client should do. */
  readonly action: string;
}

const FIX_KEY = 'Do not retry. Fix the key.';
const FIX_REQUEST = 'Do not retry. Fix the request.';
const WAIT = 'Retry after the time in Retry-After.';
const BACK_OFF = 'Retry with backoff, at most four attempts.';

const define = <T extends Record<string, ErrorDefinition>>(catalogue: T): T => catalogue;

export const errorCatalogue = define({
  invalid_api_key: {
    type: 'auth_error',
    status: 401,
    message: 'The API key is missing, malformed or unknown. Send it as "Authorization: Bearer <API_KEY>".',
    action: FIX_KEY,
  },
  revoked_api_key: { type: 'auth_error', status: 401, message: 'This API key was revoked.', action: FIX_KEY },
  expired_api_key: {
    type: 'auth_error',
    status: 401,
    message: 'This API key has expired. Issue a new one.',
    action: FIX_KEY,
  },
  insufficient_scope: {
    type: 'auth_error',
    status: 403,
    message: 'This API key does not hold the scope that the endpoint needs.',
    action: FIX_KEY,
  },

  invalid_json: {
    type: 'validation_error',
    status: 400,
    message: 'The body is not valid JSON in UTF-8.',
    action: FIX_REQUEST,
  },
  invalid_request: {
    type: 'validation_error',
    status: 400,
    message: 'The HTTP request is malformed or its headers are too large.',
    action: FIX_REQUEST,
  },
  request_too_large: {
    type: 'validation_error',
    status: 400,
    message: 'The body is larger than 10 MiB.',
    action: FIX_REQUEST,
  },
  invalid_content_type: {
    type: 'validation_error',
    status: 400,
    message: 'Send the body as "Content-Type: application/json" without a Content-Encoding.',
    action: FIX_REQUEST,
  },
  missing_required_parameter: {
    type: 'validation_error',
    status: 400,
    message: 'A required parameter is missing.',
    action: FIX_REQUEST,
  },
  invalid_model: {
    type: 'validation_error',
    status: 400,
    message:
      'The model does not exist, or is not offered in this region or to this account. GET /v1/models lists what is.',
    action: FIX_REQUEST,
  },
  invalid_region: {
    type: 'validation_error',
    status: 400,
    message: 'The region does not exist. GET /v1/regions lists those that do.',
    action: FIX_REQUEST,
  },
  invalid_tier: {
    type: 'validation_error',
    status: 400,
    message: 'The requested tier is not supported on this route.',
    action: FIX_REQUEST,
  },
  prompt_too_long: {
    type: 'validation_error',
    status: 400,
    message: 'The prompt is longer than the context window of the model.',
    action: FIX_REQUEST,
  },
  upstream_rejected_request: {
    type: 'validation_error',
    status: 400,
    message: 'The model provider rejected the request.',
    action: FIX_REQUEST,
  },
  receipt_not_found: {
    type: 'validation_error',
    status: 404,
    message: 'There is no such receipt.',
    action: FIX_REQUEST,
  },
  key_not_found: {
    type: 'validation_error',
    status: 404,
    message: 'There is no such key.',
    action: FIX_REQUEST,
  },
  key_is_revoked: {
    type: 'validation_error',
    status: 400,
    message: 'This key is revoked. Restore it first, or issue a new one.',
    action: FIX_REQUEST,
  },
  too_many_keys: {
    type: 'validation_error',
    status: 400,
    message: 'The account holds as many keys as it may. Keys that are revoked or expired do not count.',
    action: 'Do not retry. Revoke keys that are no longer needed, or contact the operator.',
  },
  key_not_restorable: {
    type: 'validation_error',
    status: 400,
    message: 'The revocation of this key can not be taken back.',
    action: 'Do not retry. Issue a new key.',
  },
  unknown_endpoint: {
    type: 'validation_error',
    status: 404,
    message: 'There is no such endpoint. GET /openapi.json lists those that exist.',
    action: FIX_REQUEST,
  },
  method_not_allowed: {
    type: 'validation_error',
    status: 405,
    message: 'The endpoint does not take this method. The Allow header lists those that it takes.',
    action: FIX_REQUEST,
  },

  requests_per_second_exceeded: {
    type: 'rate_limit_error',
    status: 429,
    message: 'The rate limit of this account is exceeded. Wait for the seconds in Retry-After.',
    action: WAIT,
  },
  daily_budget_exceeded: {
    type: 'rate_limit_error',
    status: 429,
    message: 'The daily request budget of this account is used up. It resets at midnight UTC.',
    action: WAIT,
  },

  concurrent_streams_exceeded: {
    type: 'rate_limit_error',
    status: 429,
    message: 'Too many streams of this account are open. Close idle ones, or ask for a higher tier.',
    action: WAIT,
  },

  upstream_error: { type: 'inference_error', status: 502, message: 'The model provider failed.', action: BACK_OFF },
  upstream_timeout: {
    type: 'inference_error',
    status: 502,
    message: 'The model provider did not answer in time.',
    action: BACK_OFF,
  },
  upstream_rate_limited: {
    type: 'inference_error',
    status: 502,
    message: 'The model provider is at its own rate limit.',
    action: BACK_OFF,
  },
  upstream_invalid_response: {
    type: 'inference_error',
    status: 502,
    message: 'The model provider sent a reply that could not be read.',
    action: BACK_OFF,
  },
  upstream_auth_failed: {
    type: 'inference_error',
    status: 502,
    message: 'The model provider refused the credential of the gateway. The operator has to mend this.',
    action: BACK_OFF,
  },

  dual_use_screen_block: {
    type: 'policy_error',
    status: 403,
    message: 'The request was blocked by dual-use screening.',
    action: 'Do not retry. Review the use case; a dispute goes to the audit contact.',
  },
  acceptable_use_violation: {
    type: 'policy_error',
    status: 403,
    message: 'The request matches a published pattern of unacceptable use.',
    action: 'Do not retry. Review the use case.',
  },
  customer_suspended: {
    type: 'policy_error',
    status: 403,
    message: 'This account is suspended pending review.',
    action: 'Do not retry. Contact the operator.',
  },

  region_degraded: {
    type: 'region_unavailable',
    status: 503,
    message: 'The pinned region is in incident mode.',
    action: 'Retry later, or without the region pin.',
  },
  region_saturated: {
    type: 'region_unavailable',
    status: 503,
    message: 'The pinned region is at capacity.',
    action: 'Retry with backoff, or without the region pin.',
  },
  region_decommissioned: {
    type: 'region_unavailable',
    status: 503,
    message: 'The region is no longer offered.',
    action: 'Do not retry. Choose another region.',
  },

  receipt_generation_failed: {
    type: 'methodology_error',
    status: 500,
    message: 'The receipt could not be made; the inference may have succeeded.',
    action: 'Retry.',
  },
  internal_error: {
    type: 'internal_error',
    status: 500,
    message: 'The gateway failed. Nothing in the request is at fault.',
    action: BACK_OFF,
  },
});

export type CatalogueCode = keyof typeof errorCatalogue;
