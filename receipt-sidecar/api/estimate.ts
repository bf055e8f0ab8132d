/**
 * How long a prompt can be, and how long it roughly is: for what a provider claims, and where it claims nothing.
 *
 * Invariants: a prompt has no more tokens than `mostPromptTokens`, whatever the tokenizer and the template, and no
 * fewer than its `promptTextBytes` make. Every call is measured, so a text is looked at once and none is made.
 */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { Endpoint } from './endpoint.ts';

/**
 * UTF-8 bytes per token: 1.6 to 9.2 over languages, code and data. gw-1.3 carries that range into a receipt's bounds.
 */
export const bytesPerToken = 4;
/** Tokens of a part that is not text: what an image of 1024 × 1024 has in OpenAI's tiling. */
const tokensPerPart = 765;
/** Tokens that frame a message in OpenAI's chat format. */
const tokensPerMessage = 4;

/** Characters from which on counting the bytes is worth a call; a shorter text counts by its characters. */
const longText = 64;
/** Some servers read pictures out of the text. */
const inlinePicture = ';base64,';

/** How long a prompt roughly is, and can be. */
export interface PromptSize {
  /** The estimate, rounded up. */
  readonly estimatedPromptTokens: number;
  /** UTF-8 bytes of text that is certain to be read. */
  readonly promptTextBytes: number;
  /** How many tokens the prompt can have at most; null if the body does not tell. */
  readonly mostPromptTokens: number | null;
}

const isObject = (value: unknown): value is JsonObject => value !== null && typeof value === 'object';
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Measures a prompt. `promptBytes` is the length of the whole body. */
export function promptSize(endpoint: Endpoint, body: JsonObject, promptBytes: number): PromptSize {
  const most = mostPromptTokens(endpoint, body, promptBytes);
  const size = Array.isArray(body.messages) ? sizeOfMessages(body.messages) : sizeOfPrompt(body.prompt ?? body.input);
  const tools = body.tools ?? body.functions;
  const tokens = size.tokens + (tools ? jsonBytes(tools) / bytesPerToken : 0);
  return { estimatedPromptTokens: Math.ceil(tokens), promptTextBytes: size.bytes, mostPromptTokens: most };
}

interface Size {
  tokens: number;
  bytes: number;
}

function sizeOfMessages(messages: readonly unknown[]): Size {
  const size: Size = { tokens: 0, bytes: 0 };
  for (const message of messages) {
    if (!isObject(message)) continue;
    // Templates leave out what a model has thought before, which may stand in its answers.
    const isRead = message.role !== 'assistant';
    const { content, tool_calls: calls } = message;
    if (typeof content === 'string') addText(size, content, isRead);
    for (const part of list(content)) {
      const text = isObject(part) ? (part.text ?? part.refusal) : null;
      if (typeof text === 'string') addText(size, text, isRead);
      else size.tokens += tokensPerPart;
    }
    size.tokens += tokensPerMessage + (calls ? jsonBytes(calls) / bytesPerToken : 0);
  }
  return size;
}

/** A text, several, a tokenised text, or several of those. */
function sizeOfPrompt(prompt: unknown): Size {
  const size: Size = { tokens: 0, bytes: 0 };
  const add = (value: unknown): void => {
    if (typeof value === 'string') addText(size, value, true);
    else if (typeof value === 'number') size.tokens += 1;
    else for (const item of list(value)) add(item);
  };
  add(prompt);
  return size;
}

function addText(size: Size, text: string, isRead: boolean): void {
  const bytes = Buffer.byteLength(text);
  size.tokens += bytes / bytesPerToken;
  if (isRead && !text.includes(inlinePicture)) size.bytes += bytes;
}

/** Returns about how many bytes a value has as JSON, without making that. */
function jsonBytes(value: unknown): number {
  if (typeof value === 'string') return 2 + (value.length < longText ? value.length : Buffer.byteLength(value));
  if (!isObject(value)) return 4;
  let bytes = 2;
  if (Array.isArray(value)) for (const item of value) bytes += jsonBytes(item) + 1;
  else for (const key in value) bytes += key.length + 4 + jsonBytes(value[key]);
  return bytes;
}

/** What templates add, generously: a default system prompt, the frame of a message, instructions for tools. */
const allowance = { template: 2048, message: 64, tool: 512 } as const;
/** OpenAI's largest image (gpt-4o-mini, high detail) has 48,169 tokens; others are allowed about twice that. */
const mostPerImage = 100_000;

/**
 * Returns null if bytes say nothing: files, audio and video can be references, and a hosted tool adds what it finds.
 */
function mostPromptTokens(endpoint: Endpoint, body: JsonObject, promptBytes: number): number | null {
  if (endpoint !== 'chat') return promptBytes + allowance.template;
  if (body.web_search_options != null) return null;
  const tools = [...list(body.tools), ...list(body.functions)];
  if (list(body.tools).some((tool) => !isObject(tool) || (tool.type !== 'function' && tool.type !== 'custom')))
    return null;
  const messages = list(body.messages);
  let images = 0;
  for (const message of messages) {
    if (!isObject(message)) continue;
    // Spoken before, and named by its id alone.
    if (message.audio != null) return null;
    for (const part of list(message.content)) {
      const type = isObject(part) ? part.type : null;
      if (type === 'image_url') images += 1;
      else if (type !== 'text' && type !== 'refusal') return null;
    }
  }
  const added = allowance.template + messages.length * allowance.message + tools.length * allowance.tool;
  return promptBytes + added + images * mostPerImage;
}
