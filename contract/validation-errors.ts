/** The `validation_error` codes of the public port: the request is at fault, and stays so however often it is sent. */
import { defineErrors } from './error-definition.ts';

const fixRequest = { type: 'validation_error', status: 400, retry: 'never', action: 'Fix the request.' } as const;

export const validationErrors = defineErrors({
  invalid_json: {
    ...fixRequest,
    message: 'The body is not valid JSON in UTF-8.',
    when: 'The body is empty, no JSON object, not UTF-8, nested deeper than 64 levels, or holds duplicate keys, NUL or half of a surrogate pair.',
  },
  invalid_request: {
    ...fixRequest,
    message: 'The HTTP request is malformed.',
    when: 'The request breaks the rules of HTTP, its headers are larger than 32 KiB or more than 100, it asks for a tunnel or another protocol, or its body holds more values than are read. The message says which.',
  },
  request_timeout: {
    ...fixRequest,
    status: 408,
    message: 'The request took too long to arrive. Nothing was sent to a provider.',
    when: 'The headers are not whole 10 s after their first byte, or the body 60 s after that. The message says which.',
    action: 'Send it over a faster line: 10 MiB within 60 s need 1.4 Mbit/s.',
  },
  request_too_large: {
    ...fixRequest,
    message: 'The body is larger than 10 MiB, or than 64 KiB where no provider answers.',
    when: 'The body is larger than 10 MiB; on routes that no provider answers, larger than 64 KiB.',
    action: 'Send less.',
  },
  invalid_content_type: {
    ...fixRequest,
    message: 'Send the body as "Content-Type: application/json" without a Content-Encoding.',
    when: '`Content-Type` is another than `application/json`, its charset another than UTF-8, or the body is compressed. `param` names the header.',
  },
  missing_required_parameter: {
    ...fixRequest,
    message: 'A required parameter is missing.',
    when: 'A field that the endpoint needs is absent. `param` names it.',
  },
  invalid_model: {
    ...fixRequest,
    pathStatus: 404,
    message:
      'The model does not exist, or is not offered in this region or to this account. GET /v1/models lists what is.',
    when: 'No such model, one of another kind than the endpoint takes, one that the pinned region does not serve, or one that the account may not use. `param` is `model`.',
    action: 'Choose a model of GET /v1/models.',
  },
  invalid_region: {
    ...fixRequest,
    pathStatus: 404,
    message: 'The region does not exist. GET /v1/regions lists those that do.',
    when: '`gw.region` or the path names no known region.',
    action: 'Choose a region of GET /v1/regions.',
  },
  invalid_tier: {
    ...fixRequest,
    message: 'The requested tier is not supported on this route.',
    when: '`gw.tier` is no tier, or one that the model cannot serve in this region or boundary. The message lists those that it can.',
    action: 'Ask for `auto`, or for a tier that the message lists.',
  },
  prompt_too_long: {
    ...fixRequest,
    message: 'The prompt is longer than the context window of the model.',
    when: 'The prompt has more tokens than the context window of the model holds, by count or by the word of the provider.',
    action: 'Shorten the prompt, or choose a model with a larger context window.',
  },
  unsupported_field: {
    ...fixRequest,
    message: 'A field of the body is not supported.',
    when: 'The body has a field that would steer the provider itself (its address, its credential, another model or route, fallbacks, plugins, …), or a known field whose name is in other letters (`Model`). `param` names it. Other unknown fields pass.',
    action: 'Leave the field out.',
  },
  invalid_idempotency_key: {
    ...fixRequest,
    message:
      'Idempotency keys are not supported yet: the same request sent twice would run twice. Send it without Idempotency-Key.',
    when: 'A POST has the header `Idempotency-Key`, which this gateway cannot honour yet. Ignored, it would promise what is not kept. `param` is `Idempotency-Key`.',
    action: 'Send the request without the header; the official SDKs send none unless told to.',
  },
  upstream_rejected_request: {
    ...fixRequest,
    message: 'The model provider rejected the request.',
    when: 'The provider answered 400, 404, 413 or 422 and names no field. The message is the provider’s.',
    headers: ['x-gw-receipt-id'],
  },
  receipt_not_found: {
    ...fixRequest,
    status: 404,
    message: 'There is no such receipt.',
    when: 'The id in the path is no receipt of this account, or the receipt has no such version.',
  },
  key_not_found: {
    ...fixRequest,
    status: 404,
    message: 'There is no such key.',
    when: 'The id in the path is no key of this account.',
  },
  key_is_revoked: {
    ...fixRequest,
    message: 'This key is revoked. Restore it first, or issue a new one.',
    when: 'A successor was asked for of a key that is revoked.',
    action: 'Restore the key first, or issue a new one.',
  },
  key_has_successor: {
    ...fixRequest,
    status: 409,
    message: 'This key has a successor that is active. Use that one, or revoke it and rotate again.',
    when: 'A key was rotated before, and its successor is neither revoked nor expired: rotations at once, or one that was sent again because its reply was lost. The message names the successor.',
    action: 'Use the successor; if its secret was lost, revoke it and rotate again.',
  },
  too_many_keys: {
    ...fixRequest,
    message: 'The account holds as many keys as it may. Keys that are revoked or expired do not count.',
    when: 'A further key was asked for than the account may hold, or than keys may issue in a day.',
    action: 'Revoke keys that are no longer needed, or contact the operator.',
  },
  key_not_restorable: {
    ...fixRequest,
    message: 'The revocation of this key cannot be taken back.',
    when: 'The revocation is older than 90 days, the secret that the key was hashed with is out of use, or only a person may restore a key with its scopes.',
    action: 'Issue a new key.',
  },
  unknown_endpoint: {
    ...fixRequest,
    status: 404,
    message: 'There is no such endpoint. GET /openapi.json lists those that exist.',
    when: 'The path names nothing, also without a key. Paths are compared as they are: a trailing or a doubled slash makes another path.',
  },
  method_not_allowed: {
    ...fixRequest,
    status: 405,
    message: 'The endpoint does not take this method. The Allow header lists those that it takes.',
    when: 'The path is known, the method is another than it takes.',
    headers: ['Allow'],
  },
});
