/**
 * From the bytes of a request to what the gateway knows of it, or to the error that the client gets.
 *
 * Invariant: the provider gets our serialisation of what was validated here, without `gw`, `extra_body` and
 * `metadata.project`, and without a field by which the client would steer it.
 */
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import type { GwOptions } from '@gw/contract/gw-options';
import { bodySha256 } from '@gw/contract/internal/idempotency-key';
import { err, ok, type Result } from '@gw/contract/internal/result';
import { type JsonObject, parseStrictJson } from '@gw/contract/internal/strict-json';
import { boundedForSchema } from './bounds.ts';
import type { ParsedRequest } from './port/parsed-request.ts';
import { schemaError } from './schema-error.ts';
import { shapeOf } from './shapes.ts';
import { steeringField } from './steering-fields.ts';

interface ParsedBody {
  readonly request: ParsedRequest;
  /** Without the gateway's own fields. */
  readonly body: JsonObject;
}
/** `isDense` is true if the body has more parts than `mostParts`. */
export type Parsed = Result<ParsedBody, ApiError> & { readonly isDense?: boolean };

/**
 * Parses and validates a body of the API with this name. It reads `mostParts` parts of JSON at most, or as many as there are. `isKeyed`: it came
 * with an idempotency key.
 */
export function parseRequest(endpoint: string, bytes: Uint8Array, mostParts?: number, isKeyed = false): Parsed {
  const { request: api } = shapeOf(endpoint);
  const json = parseStrictJson(bytes, mostParts);
  // Random seeds of 64 bits are common, and passed on they would be other numbers.
  if (!json.ok && json.error.field === 'seed')
    return err(fieldError('seed', '`seed` is not valid: expected a whole number between -(2^53 - 1) and 2^53 - 1.'));
  if (!json.ok) {
    const isDense = json.error.why === 'too many parts';
    const code = isDense ? 'invalid_request' : 'invalid_json';
    return { ...err(apiError(code, { message: json.error.problem })), isDense };
  }
  const bounded = boundedForSchema(api.list, json.value);
  if (!bounded.ok) return bounded;
  const checked = api.schema.safeParse(bounded.value);
  if (!checked.success) return err(schemaError(checked.error, json.value));
  const {
    gw,
    extra_body: extraBody,
    ...given
  } = json.value as JsonObject & { gw?: unknown; extra_body?: { gw?: unknown } | null };
  const options = givenOptions(gw);
  const inExtraBody = givenOptions(extraBody?.gw);
  if (options && inExtraBody && canonical(options) !== canonical(inExtraBody)) {
    return err(fieldError('gw', '`gw` and `extra_body.gw` have different values. Send one of them.'));
  }
  const { body, project } = withoutProject(given);
  const refused = steeringField(endpoint, body) ?? api.contradiction(body);
  if (refused) return err(refused);
  const request: ParsedRequest = {
    endpoint,
    model: String(body.model),
    options: options ?? inExtraBody ?? {},
    optionsPath: options ? 'gw' : 'extra_body.gw',
    promptBytes: bytes.length,
    ...api.describe(body, bytes.length),
    ...(project !== null && { project }),
    ...(isKeyed && { bodySha256: bodySha256(json.value) }),
  };
  return ok({ request, body });
}

/** Takes out what the call is charged to. OpenAI refuses metadata of calls that it does not store, so none is left empty. */
function withoutProject(given: JsonObject): { readonly body: JsonObject; readonly project: string | null } {
  const { metadata, ...others } = given;
  if (metadata === null || typeof metadata !== 'object' || !Object.hasOwn(metadata, 'project'))
    return { body: given, project: null };
  const { project, ...rest } = metadata as JsonObject;
  const body = Object.keys(rest).length > 0 ? { ...others, metadata: rest } : others;
  return { body, project: typeof project === 'string' ? project.trim() : null };
}

/** Returns the options without those that are null; null if there are none. */
const givenOptions = (options: unknown): GwOptions | null =>
  (options ?? null) === null
    ? null
    : Object.fromEntries(Object.entries(options as object).filter(([, value]) => value !== null));

/** Returns JSON that does not depend on the order of keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1)));
