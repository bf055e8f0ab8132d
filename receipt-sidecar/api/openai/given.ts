/** Fields that OpenAI's APIs for text have in common. */
import { type ApiError, fieldError } from '@gw/contract/errors';
import { membersOf, objectOf } from '@gw/contract/internal/json-members';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { FieldTexts } from '../port/shape.ts';

export const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

export const streamContradiction = ({ stream, stream_options: options }: JsonObject): ApiError | null =>
  isGiven(options) && stream !== true
    ? fieldError('stream_options', '`stream_options` is only allowed with `stream: true`.')
    : null;

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
  };
}

export function askingForUsage({ stream_options: given }: JsonObject, texts: FieldTexts): FieldTexts {
  const field = 'stream_options';
  const options = given as { readonly include_usage?: boolean | null } | null | undefined;
  if (options?.include_usage === true) return new Map();
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
