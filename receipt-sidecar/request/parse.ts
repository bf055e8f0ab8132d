/**
 * From the bytes of a request to what the gateway knows of it, or to the error that the client gets.
 *
 * Invariant: the provider gets our serialisation of what was validated here, without `gw` and `extra_body`, and
 * without a field by which the client would steer it.
 */
import { chatRequestSchema } from '@gw/contract/chat';
import { completionRequestSchema } from '@gw/contract/completions';
import { embeddingRequestSchema } from '@gw/contract/embeddings';
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import type { GwOptions } from '@gw/contract/gw-options';
import { type JsonObject, parseStrictJson } from '@gw/contract/internal/strict-json';
import type { z } from 'zod';
import { boundedForSchema } from './bounds.ts';
import { contradiction } from './combinations.ts';
import { schemaError } from './schema-error.ts';
import { steeringField } from './steering-fields.ts';

export type Endpoint = 'chat' | 'completions' | 'embeddings';

export const endpoints: Readonly<Record<string, Endpoint>> = {
  '/v1/chat/completions': 'chat',
  '/v1/completions': 'completions',
  '/v1/embeddings': 'embeddings',
};

export interface ParsedRequest {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly options: GwOptions;
  /** Where the client wrote them; absent: `gw`. */
  readonly optionsPath?: string;
  readonly stream: boolean;
  /** Whether the client asked for the usage chunk of a stream. */
  readonly wantsUsage: boolean;
  /** How many choices it asked for. */
  readonly choices: number;
  /** Bytes of the body: no text of a prompt has more. */
  readonly promptBytes: number;
  /** How many tokens the client allows for each choice, or null. */
  readonly maxTokens: number | null;
  /** The body without the gateway's own fields; `serialise` makes the provider's bytes from it. */
  readonly body: JsonObject;
}

export type Parsed =
  | { readonly ok: true; readonly request: ParsedRequest }
  | { readonly ok: false; readonly error: ApiError };

const schemas: Readonly<Record<Endpoint, z.ZodType>> = {
  chat: chatRequestSchema,
  completions: completionRequestSchema,
  embeddings: embeddingRequestSchema,
};

const refuse = (error: ApiError): Parsed => ({ ok: false, error });

export function parseRequest(endpoint: Endpoint, bytes: Uint8Array): Parsed {
  const json = parseStrictJson(bytes);
  // Random seeds of 64 bits are common, and passed on they would be other numbers.
  if (!json.ok && json.field === 'seed')
    return refuse(fieldError('seed', '`seed` is not valid: expected a whole number between -(2^53 - 1) and 2^53 - 1.'));
  if (!json.ok)
    return refuse(apiError(json.why === 'malformed' ? 'invalid_json' : 'invalid_request', { message: json.problem }));
  const bounded = boundedForSchema(endpoint, json.value);
  if (!bounded.ok) return bounded;
  const checked = schemas[endpoint].safeParse(bounded.value);
  if (!checked.success) return refuse(schemaError(checked.error, json.value));
  const {
    gw,
    extra_body: extraBody,
    ...body
  } = json.value as JsonObject & { gw?: unknown; extra_body?: { gw?: unknown } | null };
  const options = givenOptions(gw);
  const inExtraBody = givenOptions(extraBody?.gw);
  if (options && inExtraBody && canonical(options) !== canonical(inExtraBody)) {
    return refuse(fieldError('gw', '`gw` and `extra_body.gw` have different values. Send one of them.'));
  }
  const refused = steeringField(endpoint, body) ?? contradiction(endpoint, body);
  if (refused) return refuse(refused);
  const streamOptions = body.stream_options as { include_usage?: boolean | null } | null | undefined;
  const stream = endpoint !== 'embeddings' && body.stream === true;
  return {
    ok: true,
    request: {
      endpoint,
      model: String(body.model),
      options: options ?? inExtraBody ?? {},
      optionsPath: options ? 'gw' : 'extra_body.gw',
      stream,
      wantsUsage: stream && streamOptions?.include_usage === true,
      choices: (typeof body.n === 'number' ? body.n : 1) * promptCount(body.prompt),
      promptBytes: bytes.length,
      maxTokens: maxTokensOf(body),
      body,
    },
  };
}

/** Text completions make their choices for each prompt. */
const promptCount = (prompt: unknown): number =>
  Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt.length : 1;

/** As the schema took them: null counts as absent, of each option and of all. */
const givenOptions = (options: unknown): GwOptions | null =>
  (options ?? null) === null
    ? null
    : Object.fromEntries(Object.entries(options as object).filter(([, value]) => value !== null));

function maxTokensOf({ max_completion_tokens: newer, max_tokens: older }: JsonObject): number | null {
  const most = newer ?? older;
  return typeof most === 'number' ? most : null;
}

/** Key order does not make two options different. */
const canonical = (value: unknown): string =>
  JSON.stringify(Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1)));

/**
 * The bytes for the provider. Asks for usage in every stream, and sends OpenAI's default temperature explicitly, since
 * servers differ in theirs.
 */
export function serialise(request: ParsedRequest, providerModel: string, takesTemperature: boolean): Buffer {
  const { endpoint, body, stream } = request;
  const sent: JsonObject = { ...body, model: providerModel };
  if (endpoint !== 'embeddings' && takesTemperature && (sent.temperature === undefined || sent.temperature === null))
    sent.temperature = 1;
  if (stream) sent.stream_options = { ...(body.stream_options as object | null | undefined), include_usage: true };
  return Buffer.from(JSON.stringify(sent));
}
