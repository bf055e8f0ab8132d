/**
 * From the bytes of a request to what the gateway knows of it, or to the error that the client gets.
 *
 * Invariant: what goes on to the provider is the client's own text of the fields that were validated here, which no parser reads
 * in another way, without `gw` and `metadata.project`, and without a field by which the client would steer it.
 */
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import type { GwOptions } from '@gw/contract/gw-options';
import { defined } from '@gw/contract/internal/defined';
import { bodySha256 } from '@gw/contract/internal/idempotency-key';
import { membersOf, objectOf } from '@gw/contract/internal/json-members';
import { err, ok, type Result } from '@gw/contract/internal/result';
import { type JsonObject, readJsonText } from '@gw/contract/internal/strict-json';
import { boundedForSchema } from './bounds.ts';
import { type Fields, unwrapped } from './fields.ts';
import type { ParsedRequest } from './port/parsed-request.ts';
import { schemaError } from './schema-error.ts';
import { shapeOf } from './shapes.ts';
import { steeringField } from './steering-fields.ts';

export interface ParsedBody extends Fields {
  readonly request: ParsedRequest;
}
/** `isDense` is true if the body has more parts than `mostParts`. */
export type Parsed = Result<ParsedBody, ApiError> & { readonly isDense?: boolean };

/**
 * Parses and validates a body of the API with this name. It reads `mostParts` parts of JSON at most, or as many as there are. `isKeyed`: it came
 * with an idempotency key.
 */
export function parseRequest(endpoint: string, bytes: Uint8Array, mostParts?: number, isKeyed = false): Parsed {
  const json = readJsonText(bytes, mostParts);
  if (!json.ok) {
    const isDense = json.error.why === 'too many parts';
    const code = isDense ? 'invalid_request' : 'invalid_json';
    return { ...err(apiError(code, { message: json.error.problem })), isDense };
  }
  const { inexact, members, value } = json.value;
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    return err(apiError('invalid_json', { message: 'The body has to be a JSON object.' }));
  const given = unwrapped(value as JsonObject, members);
  if (!given.ok) return given;
  const { hoisted } = given.value;
  const parsed = validated(endpoint, given.value, bytes.length);
  if (!parsed.ok) return err(located(parsed.error, hoisted));
  if (!isKeyed) return parsed;
  const request = { ...parsed.value.request, bodySha256: bodySha256(value, inexact) };
  return ok({ ...parsed.value, request });
}

function validated(endpoint: string, given: Fields, length: number): Result<ParsedBody, ApiError> {
  const { request: api } = shapeOf(endpoint);
  const bounded = boundedForSchema(api.list, given.body);
  if (!bounded.ok) return bounded;
  const checked = api.schema.safeParse(bounded.value);
  if (!checked.success) return err(schemaError(checked.error, given.body));
  const {
    gw,
    extra_body: extraBody,
    ...own
  } = given.body as JsonObject & { gw?: unknown; extra_body?: { gw?: unknown } | null };
  const options = givenOptions(gw);
  const inExtraBody = givenOptions(extraBody?.gw);
  if (options && inExtraBody && canonical(options) !== canonical(inExtraBody)) {
    return err(fieldError('gw', '`gw` and `extra_body.gw` have different values. Send one of them.'));
  }
  const { body, project, texts } = withoutProject({ body: own, texts: given.texts });
  const refused = steeringField(endpoint, body) ?? api.contradiction(body);
  if (refused) return err(refused);
  const request: ParsedRequest = {
    endpoint,
    model: String(body.model),
    options: options ?? inExtraBody ?? {},
    optionsPath: options ? 'gw' : 'extra_body.gw',
    promptBytes: length,
    ...api.describe(body, length),
    ...(project !== null && { project }),
  };
  return ok({ request, body, texts });
}

/** Names the field by the place where the client wrote it. */
function located(error: ApiError, hoisted: ReadonlySet<string>): ApiError {
  const field = error.param?.match(/^[^.[]*/)?.[0];
  return field && hoisted.has(field) ? { ...error, param: `extra_body.${error.param}` } : error;
}

/** Takes out what the call is charged to. OpenAI refuses metadata of calls that it does not store, so none is left empty. */
function withoutProject({ body: given, texts }: Fields): Fields & { readonly project: string | null } {
  const { metadata, ...others } = given;
  if (metadata === null || typeof metadata !== 'object' || !Object.hasOwn(metadata, 'project'))
    return { body: given, texts, project: null };
  const { project, ...rest } = metadata as JsonObject;
  const left = membersOf(defined(texts.get('metadata'), 'metadata')).filter(([name]) => name !== 'project');
  const isEmpty = left.length === 0;
  const written = new Map(texts);
  if (isEmpty) written.delete('metadata');
  else written.set('metadata', objectOf(left));
  return {
    body: isEmpty ? others : { ...others, metadata: rest },
    texts: written,
    project: typeof project === 'string' ? project.trim() : null,
  };
}

/** Returns the options without those that are null; null if there are none. */
const givenOptions = (options: unknown): GwOptions | null =>
  (options ?? null) === null
    ? null
    : Object.fromEntries(Object.entries(options as object).filter(([, value]) => value !== null));

/** Returns JSON that does not depend on the order of keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1)));
