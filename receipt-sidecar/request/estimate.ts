/**
 * How long a prompt can be, and how long it roughly is: for what a provider claims, and where it claims nothing.
 *
 * Invariant: a prompt has no more tokens than `mostPromptTokens`, whatever the tokenizer and the template.
 */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { Endpoint } from './parse.ts';

/** Between 1.6 and 9.2 over languages, code and data; gw-1.3 carries the range into the bounds of a receipt. */
export const bytesPerToken = 4;
/** An image of 1024 × 1024 in OpenAI's tiling; any other part that is not text counts the same. */
const tokensPerPart = 765;
/** OpenAI's frame of a message. */
const tokensPerMessage = 4;

const textTokens = (text: string): number => Buffer.byteLength(text) / bytesPerToken;
const isObject = (value: unknown): value is JsonObject => value !== null && typeof value === 'object';
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function contentTokens(content: unknown): number {
  if (typeof content === 'string') return textTokens(content);
  return list(content).reduce<number>((sum, part) => {
    const text = isObject(part) ? (part.text ?? part.refusal) : null;
    return sum + (typeof text === 'string' ? textTokens(text) : tokensPerPart);
  }, 0);
}

function messageTokens(message: unknown): number {
  if (!isObject(message)) return 0;
  const calls = message.tool_calls ? textTokens(JSON.stringify(message.tool_calls)) : 0;
  return contentTokens(message.content) + calls + tokensPerMessage;
}

/** A text, several, a tokenised text, or several of those. */
function promptTokens(prompt: unknown): number {
  if (typeof prompt === 'string') return textTokens(prompt);
  if (typeof prompt === 'number') return 1;
  return Array.isArray(prompt) ? prompt.reduce<number>((sum, item) => sum + promptTokens(item), 0) : 0;
}

/** Tokens of `messages` with `tools`, `prompt` or `input`, rounded up. */
export function estimatePromptTokens(body: JsonObject): number {
  if (!Array.isArray(body.messages)) return Math.ceil(promptTokens(body.prompt ?? body.input));
  const tools = body.tools ?? body.functions;
  const tokens = list(body.messages).reduce<number>((sum, message) => sum + messageTokens(message), 0);
  return Math.ceil(tokens + (tools ? textTokens(JSON.stringify(tools)) : 0));
}

/** What templates add, generously: a default system prompt, the frame of a message, instructions for tools. */
const allowance = { template: 2048, message: 64, tool: 512 } as const;
/** OpenAI's dearest image (gpt-4o-mini, high detail) is 48,169 tokens; doubled for others. */
const mostPerImage = 100_000;

/** Null where bytes say nothing: files, audio and video can be sent by reference, and a hosted tool adds its findings. */
export function mostPromptTokens(endpoint: Endpoint, body: JsonObject, promptBytes: number): number | null {
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
