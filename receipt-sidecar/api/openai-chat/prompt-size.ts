/** Measures the prompt of a chat, by its messages and tools. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { addPart, mostPerImage, noSize, type SizeWithParts, uncounted } from '../openai/parts-size.ts';
import { addText, allowance, bytesPerToken, jsonBytes, type PromptSize } from '../port/prompt-size.ts';

/** Tokens that frame a message in OpenAI's chat format. */
const tokensPerMessage = 4;

const isImage = (part: unknown): boolean => isObject(part) && part.type === 'image_url';
const isObject = (value: unknown): value is JsonObject => value !== null && typeof value === 'object';
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** `promptBytes` is the length of the whole body. */
export function chatPromptSize(body: JsonObject, promptBytes: number): PromptSize {
  const messages = list(body.messages);
  const size = sizeOfMessages(messages);
  const tools = body.tools ?? body.functions;
  const tokens = size.tokens + (tools ? jsonBytes(tools) / bytesPerToken : 0);
  return {
    estimatedPromptTokens: Math.ceil(tokens),
    promptTextBytes: size.bytes,
    mostPromptTokens: mostPromptTokens(body, messages, promptBytes),
    parts: uncounted(size),
  };
}

function sizeOfMessages(messages: readonly unknown[]): SizeWithParts {
  const size = noSize();
  for (const message of messages) {
    if (!isObject(message)) continue;
    // Templates leave out earlier reasoning, which may stand in the assistant's messages.
    const isRead = message.role !== 'assistant';
    const { content, tool_calls: calls } = message;
    if (typeof content === 'string') addText(size, content, isRead);
    for (const part of list(content)) {
      const text = isObject(part) ? (part.text ?? part.refusal) : null;
      if (typeof text === 'string') addText(size, text, isRead);
      else addPart(size, part, isImage(part));
    }
    // Audio of an earlier reply is named by its id alone.
    if (message.audio != null) addPart(size, null, false);
    size.tokens += tokensPerMessage + (calls ? jsonBytes(calls) / bytesPerToken : 0);
  }
  return size;
}

/** Returns null if bytes say nothing: files, audio and video can be references. */
function mostPromptTokens(body: JsonObject, messages: readonly unknown[], promptBytes: number): number | null {
  const tools = [...list(body.tools), ...list(body.functions)];
  let images = 0;
  for (const message of messages) {
    if (!isObject(message)) continue;
    // Audio of an earlier reply is named by its id alone.
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
