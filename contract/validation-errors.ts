/** The `validation_error` codes of the public port: the request is at fault, so a retry cannot succeed. */
import { defineErrors } from './error-definition.ts';

const fixRequest = { type: 'validation_error', status: 400, retry: 'never', action: 'Fix the request.' } as const;

export const validationErrors = defineErrors({
  invalid_json: {
    ...fixRequest,
    message: 'The body is not valid JSON in UTF-8.',
    when: 'The body is empty, is not a JSON object, is not UTF-8, is nested deeper than 64 levels, or holds duplicate keys or a number of more than 1,024 characters; outside of inference also where it holds NUL, half of a surrogate pair or a number that a double cannot hold.',
  },
  invalid_request: {
    ...fixRequest,
    message: 'The HTTP request is malformed.',
    when: 'The request breaks the rules of HTTP, has headers of more than 32 KiB or more than 100 of them, asks for a tunnel or another protocol, or has a body with too many values. The message says which.',
  },
  request_timeout: {
    ...fixRequest,
    status: 408,
    message: 'The request took too long to arrive. Nothing was sent to a provider.',
    when: 'The headers were not complete 10 s after their first byte, or the body was not complete 60 s after that. The message says which.',
    action: 'Use a faster connection: 10 MiB within 60 s need 1.4 Mbit/s.',
  },
  request_too_large: {
    ...fixRequest,
    message: 'The body is larger than 10 MiB, or larger than 64 KiB on a route that needs no provider.',
    when: 'The body is larger than 10 MiB, or larger than 64 KiB on a route that needs no provider.',
    action: 'Send a smaller body.',
  },
  invalid_content_type: {
    ...fixRequest,
    message: 'Send the body as "Content-Type: application/json" without a Content-Encoding.',
    when: '`Content-Type` is not `application/json`, its charset is not UTF-8, or the body is compressed. `param` names the header.',
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
      'The model does not exist, or is not offered in this region or to this account. GET /v1/models lists the models that are.',
    when: 'The model does not exist, is of a kind that the endpoint does not take, is not served in the pinned region, or may not be used by the account. `param` is `model`.',
    action: 'Choose a model from GET /v1/models.',
  },
  invalid_region: {
    ...fixRequest,
    pathStatus: 404,
    message: 'The region does not exist. GET /v1/regions lists those that do.',
    when: '`gw.region` or the path names a region that does not exist.',
    action: 'Choose a region from GET /v1/regions.',
  },
  max_carbon_exceeded: {
    ...fixRequest,
    message: 'No region that can serve this call is estimated to stay below `gw.max_carbon_g`.',
    when: 'The call has a ceiling, `gw.max_carbon_g`, and is estimated above it even with a short answer, or cannot be estimated, in each region that could serve it; or its answer could become longer than the ceiling allows, and the provider takes no limit. The message names the lowest estimate. Nothing was sent to a provider.',
    action: 'Ask for less (a smaller model, a shorter prompt, fewer choices), or raise the ceiling.',
  },
  invalid_tier: {
    ...fixRequest,
    message: 'The requested tier is not supported on this route.',
    when: '`gw.tier` is not a tier, or the model cannot serve it in this region or boundary. The message lists the tiers that it can serve.',
    action: 'Ask for `auto`, or for a tier that the message lists.',
  },
  prompt_too_long: {
    ...fixRequest,
    message: 'The prompt is too long: it exceeds the context window of the model.',
    when: 'The prompt has more tokens than the context window of the model holds. The gateway counted them, or the provider said so.',
    action: 'Shorten the prompt, or choose a model with a larger context window.',
  },
  content_filter: {
    ...fixRequest,
    message: 'A safety filter of the model provider blocked the request.',
    when: 'The provider refused the request, or broke off its answer, because of the content. `param` is the field of the prompt. The message is the provider’s if it answered 400 or 422. Where a filter ends an answer in the ordinary way, there is no error but `finish_reason: "content_filter"`.',
    action: 'Change the prompt, or choose a model whose provider allows it.',
    headers: ['x-gw-receipt-id'],
  },
  unsupported_field: {
    ...fixRequest,
    message: 'A field of the body is not supported.',
    when: 'The body has a field that would steer the provider itself (its address, its credential, another model or route, fallbacks, plugins, …), or a field whose name differs from a known one only in case or punctuation (`Model`, `max-tokens`); or the call would have to be translated for the providers of the model, and the field has no counterpart in their API. `param` names it. Other unknown fields are passed on.',
    action: 'Leave the field out.',
  },
  invalid_idempotency_key: {
    ...fixRequest,
    message: 'The Idempotency-Key must be 1 to 255 visible ASCII characters and must be sent only once.',
    when: 'The header `Idempotency-Key` is empty, longer than 255 characters, has characters other than visible ASCII, or is sent twice; or it was sent with a login or a logout, which take none. `param` is `Idempotency-Key`.',
    action: 'Send a key of that form, such as a random UUID.',
  },
  idempotency_key_reused: {
    ...fixRequest,
    message: 'This Idempotency-Key was used for another request within the last 24 hours.',
    when: 'A request of this account (on the operators’ port: of this person) to this endpoint with the same `Idempotency-Key` had another body or query, and is under way, or was answered within the last 24 hours. Nothing was sent to a provider or changed. `param` is `Idempotency-Key`.',
    action: 'Use a new key for each new request.',
  },
  idempotency_reply_not_kept: {
    ...fixRequest,
    status: 409,
    message: 'A request with this Idempotency-Key was answered, and its reply was not kept.',
    when: 'The request has run, so it does not run again, and its reply cannot be replayed: it is larger than 2 MiB, the account has stored 256 MiB of replies within a day, or the key that it was encrypted with was removed. For a call, `x-gw-receipt-id` and the message name the receipt; for a change, the message names its `x-request-id`.',
    action:
      'Read the receipt, or what the change has made; to run a call again and pay for it, send it with a new key.',
    headers: ['x-gw-receipt-id'],
  },
  upstream_rejected_request: {
    ...fixRequest,
    message: 'The model provider rejected the request.',
    when: 'The provider answered 400, 404, 413 or 422 and named no field. The message is the provider’s.',
    headers: ['x-gw-receipt-id'],
  },
  receipt_not_found: {
    ...fixRequest,
    status: 404,
    message: 'There is no such receipt.',
    when: 'This account has no receipt with the id in the path, or the receipt has no such version.',
  },
  evidence_pack_not_found: {
    ...fixRequest,
    status: 404,
    message: 'There is no such evidence pack.',
    when: 'This account has asked for no pack with the id in the path, or that was more than 30 days ago.',
    action: 'Ask for the pack again: `POST /v1/gw/evidence-pack`.',
  },
  range_not_satisfiable: {
    ...fixRequest,
    status: 416,
    message: 'The requested range is outside of the evidence pack.',
    when: 'The `Range` of the request begins after the end of the pack. `content-range` has the length of the pack.',
    action: 'Ask for bytes within the pack. If you already have that many bytes, you have the whole pack.',
  },
  methodology_not_found: {
    ...fixRequest,
    status: 404,
    message: 'No methodology of this gateway has this hash.',
    when: 'This release knows no methodology with the hash in the path. `param` is `methodology_hash`.',
    action:
      'Copy the `methodology_hash` of a receipt unchanged; if it is from a newer release, ask a gateway of that release.',
  },
  key_not_found: {
    ...fixRequest,
    status: 404,
    message: 'There is no such key.',
    when: 'This account has no key with the id in the path.',
  },
  key_is_revoked: {
    ...fixRequest,
    message: 'This key is revoked. Restore it first, or issue a new one.',
    when: 'The request asks for a successor of a key that is revoked.',
    action: 'Restore the key first, or issue a new one.',
  },
  key_has_successor: {
    ...fixRequest,
    status: 409,
    message: 'This key has a successor that is active. Use that one, or revoke it and rotate again.',
    when: 'The key was rotated before, and its successor is neither revoked nor expired. This happens if two rotations run at the same time, or if one is sent again because its reply was lost. The message names the successor.',
    action: 'Use the successor; if its secret was lost, revoke it and rotate again.',
  },
  too_many_keys: {
    ...fixRequest,
    message: 'The account has reached its limit of keys. Revoked and expired keys do not count.',
    when: 'The account has reached its limit of keys, or its keys have reached the limit of keys that they may issue in one day.',
    action: 'Revoke keys that are no longer needed, or contact the operator.',
  },
  key_not_restorable: {
    ...fixRequest,
    message: 'The revocation of this key cannot be undone.',
    when: 'The revocation is older than 90 days, the secret that the key was hashed with is no longer in use, or only a person may restore a key with these scopes.',
    action: 'Issue a new key.',
  },
  unknown_endpoint: {
    ...fixRequest,
    status: 404,
    message: 'There is no such endpoint. GET /openapi.json lists those that exist.',
    when: 'No endpoint has this path. The reply is the same without a key. Paths are compared exactly: a trailing or a doubled slash makes another path, and the message then names the right one.',
  },
  method_not_allowed: {
    ...fixRequest,
    status: 405,
    message: 'The endpoint does not take this method. The Allow header lists the methods that it takes.',
    when: 'The path exists, but not with this method.',
    headers: ['Allow'],
  },
});
