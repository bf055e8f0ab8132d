/** Fields that OpenAI's APIs for text have in common. */
import { type ApiError, fieldError } from '@gw/contract/errors';
import { membersOf, objectOf } from '@gw/contract/internal/json-members';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { affinityBy } from '../port/affinity.ts';
import type { FieldTexts } from '../port/shape.ts';

export const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

export const streamContradiction = ({ stream, stream_options: options }: JsonObject): ApiError | null =>
  isGiven(options) && stream !== true
    ? fieldError('stream_options', '`stream_options` is only allowed with `stream: true`.')
    : null;

/** Parts of the names of fields by which providers are asked to search, or to read what the request does not hold. */
const readingWords =
  /search|retriev|ground|browse|connector|knowledge|vector_?store|tool_?resources|plugins|compound|venice/i;
/** Values by which such a field asks for nothing. */
const restful: ReadonlySet<unknown> = new Set([
  null,
  undefined,
  false,
  0,
  '',
  'off',
  'none',
  'disabled',
  'never',
  'false',
]);
const isRestful = (value: unknown): boolean =>
  restful.has(value) ||
  (value !== null &&
    typeof value === 'object' &&
    restful.has((value as JsonObject).mode ?? (value as JsonObject).type ?? true));
/** Kinds of tools that the client runs by itself; a provider runs all others, and reads what they bring. */
const ownTools: ReadonlySet<unknown> = new Set(['function', 'custom']);

/** Whether a body asks the provider to read more than it holds: web search of several makes, or tools that run there. */
export function asksToRead(body: JsonObject): boolean {
  for (const field in body) if (readingWords.test(field) && !isRestful(body[field])) return true;
  const { tools } = body;
  return (
    Array.isArray(tools) && tools.some((tool) => !ownTools.has((tool as { readonly type?: unknown } | null)?.type))
  );
}

/** Fields by which OpenAI's APIs tell calls apart whose prompts begin alike, the better one first. */
export const affinityOf = (body: JsonObject) => affinityBy(body, ['prompt_cache_key', 'user']);

const outputFields = ['max_completion_tokens', 'max_tokens'] as const;

/** Reads the fields about streaming and the bound of the output. */
export function outputOf(body: JsonObject) {
  const options = body.stream_options as { readonly include_usage?: boolean | null } | null | undefined;
  const stream = body.stream === true;
  const outputField = outputFields.find((field) => typeof body[field] === 'number') ?? null;
  return {
    stream,
    wantsUsage: stream && options?.include_usage === true,
    outputField,
    maxTokens: outputField && (body[outputField] as number),
    asksToRead: asksToRead(body),
    affinity: affinityOf(body),
  };
}

export function askingForUsage({ stream_options: given }: JsonObject, texts: FieldTexts): FieldTexts {
  const field = 'stream_options';
  const options = given as { readonly include_usage?: boolean | null } | null | undefined;
  const own = texts.get(field);
  if (own !== undefined && options?.include_usage === true) return new Map([[field, own]]);
  const others = membersOf(texts.get(field) ?? '{}').filter(([name]) => name !== 'include_usage');
  return new Map([[field, objectOf([...others, ['include_usage', 'true']])]]);
}

/** The fields of the APIs for text that are whole numbers. */
export const integers = ['max_completion_tokens', 'max_tokens', 'n', 'seed', 'best_of', 'top_logprobs', 'logprobs'];

/** Returns how many prompts a field has that may hold one text, many texts, a list of tokens, or many such lists. */
export const promptCount = (value: unknown): number =>
  Array.isArray(value) && typeof value[0] !== 'number' ? value.length : 1;

/** Returns the texts of such a field. */
export const promptTexts = (value: unknown): readonly string[] => (Array.isArray(value) ? value : [String(value)]);
