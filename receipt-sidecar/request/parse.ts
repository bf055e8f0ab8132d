/**
 * From the bytes of a request to what the gateway knows of it, or to the error that the client gets.
 *
 * Invariant: the provider gets our serialisation of what was validated here, without `gw` and `extra_body`.
 */
import { chatRequestSchema } from '@gw/contract/chat';
import { completionRequestSchema } from '@gw/contract/completions';
import { embeddingRequestSchema } from '@gw/contract/embeddings';
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import type { GwOptions } from '@gw/contract/gw-options';
import { type JsonObject, parseStrictJson } from '@gw/contract/internal/strict-json';
import type { z } from 'zod';
import { boundedForSchema } from './bounds.ts';

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
  readonly stream: boolean;
  /** Whether the client asked for the usage chunk of a stream. */
  readonly wantsUsage: boolean;
  /** How many choices it asked for. */
  readonly choices: number;
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
  if (!json.ok) return refuse(apiError('invalid_json', { message: json.problem }));
  const bounded = boundedForSchema(json.value);
  if (!bounded.ok) return bounded;
  const checked = schemas[endpoint].safeParse(bounded.value);
  if (!checked.success) return refuse(toError(checked.error, json.value));
  const {
    gw,
    extra_body: extraBody,
    ...body
  } = json.value as JsonObject & { gw?: unknown; extra_body?: { gw?: unknown } | null };
  const options = gw ?? extraBody?.gw ?? {};
  if (gw && extraBody?.gw && canonical(gw) !== canonical(extraBody.gw)) {
    return refuse(apiErrorGw('`gw` and `extra_body.gw` have different values. Send one of them.'));
  }
  const streamOptions = body.stream_options as { include_usage?: boolean | null } | null | undefined;
  const stream = endpoint !== 'embeddings' && body.stream === true;
  return {
    ok: true,
    request: {
      endpoint,
      model: String(body.model),
      options: options as GwOptions,
      stream,
      wantsUsage: stream && streamOptions?.include_usage === true,
      choices: (typeof body.n === 'number' ? body.n : 1) * promptCount(body.prompt),
      body,
    },
  };
}

const apiErrorGw = (message: string, param = 'gw'): ApiError => ({ ...fieldError('gw', message), param });

/** Text completions make their choices for each prompt. */
const promptCount = (prompt: unknown): number =>
  Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt.length : 1;

/** Key order does not make two options different. */
const canonical = (value: unknown): string =>
  JSON.stringify(Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1)));

/** `messages[0].role` from ['messages', 0, 'role']. */
function jsonPath(path: readonly PropertyKey[]): string {
  return path
    .map((part, at) => (typeof part === 'number' ? `[${part}]` : at === 0 ? String(part) : `.${String(part)}`))
    .join('');
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const part of path)
    at = at !== null && typeof at === 'object' ? (at as Record<PropertyKey, unknown>)[part] : undefined;
  return at;
}

/** Longest part of a client's own key that is said back. */
const longestName = 64;
const short = (part: PropertyKey): PropertyKey => (typeof part === 'string' ? part.slice(0, longestName) : part);

/** The first problem, in the order of the schema: one error names one field. */
function toError(error: z.ZodError, value: unknown): ApiError {
  const issue = error.issues[0];
  if (!issue || (issue.path.length === 0 && issue.code !== 'unrecognized_keys')) {
    return apiError('invalid_json', { message: 'The body has to be a JSON object.' });
  }
  const path = issue.path.map(short);
  const param = jsonPath(path);
  if (issue.code === 'unrecognized_keys') {
    // Only the options of the gateway are a closed list.
    const unknown = `${param}.${String(short(issue.keys[0] ?? ''))}`;
    return apiErrorGw(`\`${unknown}\` is not a known option.`, unknown);
  }
  if (valueAt(value, issue.path) === undefined) {
    return apiError('missing_required_parameter', { message: `\`${param}\` is required.`, param });
  }
  const message = `\`${param}\` is not valid: ${issue.message.slice(0, 200)}.`;
  // A code is stable, so a key that the client chose is no part of it.
  return path[0] === 'logit_bias' ? { ...fieldError('logit_bias', message), param } : fieldError(param, message);
}

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
