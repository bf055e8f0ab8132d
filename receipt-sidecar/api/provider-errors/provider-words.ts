/**
 * Where servers put what they have to say about a request that they refuse: `{"error":{message,…}}` as OpenAI, the
 * fields at the top (vLLM, SGLang, Mistral, Bedrock), a text as `error` (TGI, TEI), a list of one (Gemini), `detail` as a text
 * or as a list of what is wrong with single fields (FastAPI; Mistral has it within its message), `base_resp` (MiniMax).
 */
import { parseObject } from '../../wire/json-body.ts';

/** A provider's explanation of a refusal. `message` is null if there is none; nothing else is validated. */
export interface ProviderWords {
  readonly message: string | null;
  readonly code: unknown;
  readonly type: unknown;
  readonly param: unknown;
  /** The object that these were found in. */
  readonly fields: Readonly<Record<string, unknown>>;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

const textOf = (value: unknown): string | null => (typeof value === 'string' && value.trim() !== '' ? value : null);

/** Finds the words in a reply that is parsed already. */
export function wordsOf(reply: Readonly<Record<string, unknown>>): ProviderWords {
  // A response whose stream has failed says why within it.
  const said = isObject(reply.response) && isObject(reply.response.error) ? reply.response : reply;
  const fields = isObject(said.error) ? said.error : isObject(reply.base_resp) ? reply.base_resp : reply;
  const { message, type } = fields;
  const code = fields.code ?? fields.status_code;
  const fault = faultOf(fields.detail) ?? faultOf(isObject(message) ? message.detail : null);
  const text =
    textOf(message) ?? textOf(fields.error) ?? textOf(fields.detail) ?? textOf(fault?.msg) ?? textOf(fields.status_msg);
  return { message: text, code, type, param: fields.param ?? fieldOf(fault), fields };
}

/** The first of a list of faults, which has its words in `msg` and its place in `loc`. */
function faultOf(detail: unknown): Record<string, unknown> | null {
  const first: unknown = Array.isArray(detail) ? detail[0] : null;
  return isObject(first) ? first : null;
}

/** The field of the body in which a fault lies. What is deeper can be a name of the provider's own. */
function fieldOf(fault: Record<string, unknown> | null): unknown {
  const place: unknown = fault?.loc;
  return Array.isArray(place) && place[0] === 'body' ? place[1] : undefined;
}

/** The kinds of blocks and sources that Anthropic names within a path, behind the field or the index of what is of that kind. */
const kinds =
  /(?<=\.\d+)\.(?:text|image|document|tool_use|tool_result|thinking|redacted_thinking|search_result|custom)(?=\.)|(?<=\.source)\.(?:base64|url|text|content|file)(?=\.)/g;

/** Returns the field that a message begins with, as Anthropic's do (`messages.0.content: …`), in the spelling of clients; null if it begins otherwise. */
export function fieldBefore(message: string): string | null {
  const path = /^([a-z_]{1,64}(?:\.(?:\d{1,6}|[a-z_][a-z\d_]{0,63})){0,12}): /.exec(message)?.[1];
  return path === undefined ? null : path.replaceAll(kinds, '').replaceAll(/\.(\d+)/g, '[$1]');
}

/** How many characters a body can have to be read; no refusal is longer. */
export const longestBody = 256 * 1024;

/** Returns null if the body is longer than 256 Ki characters, or is neither a JSON object nor a list of one. */
export function readWords(body: string): ProviderWords | null {
  if (body.length > longestBody) return null;
  const listed = /^\s*\[(.*)\]\s*$/s.exec(body);
  const reply = parseObject(listed?.[1] ?? body);
  return reply && wordsOf(reply);
}
