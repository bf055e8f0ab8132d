/**
 * Reads the bodies of the inference endpoints leniently: an optional field of the wrong type counts as absent, since the gateway
 * validates requests.
 */
import { models, type SimModel } from './models.ts';
import { errorReply, type JsonReply } from './reply.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface Call {
  readonly model: SimModel;
  readonly fields: Fields;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly choices: number;
  readonly stops: readonly string[];
  readonly maxTokens: number | null;
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const wholeNumber = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : null;

const texts = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((item) => typeof item === 'string');

function parseFields(body: Buffer): Fields | null {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}

/** Returns the call, or the reply that refuses it. `kind` is the kind of model for the endpoint. */
export function readCall(body: Buffer, kind: SimModel['kind']): Call | JsonReply {
  const fields = parseFields(body);
  if (fields === null) return errorReply(400, 'The body is not a JSON object.');
  const name = fields.model;
  if (typeof name !== 'string') return errorReply(400, 'You must provide a model parameter.', 'model');
  const model = models.get(name);
  if (model?.kind !== kind) return errorReply(404, `The model "${name}" does not exist here.`, 'model');
  const streamOptions = fields.stream_options;
  return {
    model,
    fields,
    stream: fields.stream === true,
    includeUsage: isFields(streamOptions) && streamOptions.include_usage === true,
    choices: Math.min(wholeNumber(fields.n) ?? 1, 128),
    stops: texts(fields.stop),
    maxTokens: wholeNumber(fields.max_completion_tokens) ?? wholeNumber(fields.max_tokens),
  };
}

export const isReply = (value: Call | JsonReply): value is JsonReply => 'kind' in value;

/** Returns the text of a message's content: a string, or the text parts of a list. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (isFields(part) && typeof part.text === 'string' ? part.text : '')).join('');
}
