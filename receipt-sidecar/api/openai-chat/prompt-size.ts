/** Measures the prompt of a chat, by its messages and tools. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { addText, allowance, bytesPerToken, jsonBytes, type PromptSize, type Size } from '../port/prompt-size.ts';

/** Tokens of a part that is not text: an image of 1024 × 1024 in OpenAI's tiling. */
const tokensPerPart = 765;
/** A small file can be a large picture of one colour, and some models count thousands for the smallest one. */
const tokensBesideImage = 10_000;
/** Tokens that frame a message in OpenAI's chat format. */
const tokensPerMessage = 4;
/** OpenAI's largest image (gpt-4o-mini, high detail) has 48,169 tokens; others are allowed about twice that. */
const mostPerImage = 100_000;

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
    parts: size.parts === 0 ? null : { estimatedTokens: size.parts * tokensPerPart, mostTokens: size.mostOfParts },
  };
}

interface ChatSize extends Size {
  parts: number;
  /** Null once the size of one is unknown. */
  mostOfParts: number | null;
}

function sizeOfMessages(messages: readonly unknown[]): ChatSize {
  const size: ChatSize = { tokens: 0, bytes: 0, parts: 0, mostOfParts: 0 };
  for (const message of messages) {
    if (!isObject(message)) continue;
    // Templates leave out earlier reasoning, which may stand in the assistant's messages.
    const isRead = message.role !== 'assistant';
    const { content, tool_calls: calls } = message;
    if (typeof content === 'string') addText(size, content, isRead);
    for (const part of list(content)) {
      const text = isObject(part) ? (part.text ?? part.refusal) : null;
      if (typeof text === 'string') addText(size, text, isRead);
      else addPart(size, part);
    }
    // Audio of an earlier reply is named by its id alone.
    if (message.audio != null) addPart(size, null);
    size.tokens += tokensPerMessage + (calls ? jsonBytes(calls) / bytesPerToken : 0);
  }
  return size;
}

function addPart(size: ChatSize, part: unknown): void {
  size.parts += 1;
  size.tokens += tokensPerPart;
  const most = mostOfPart(part);
  size.mostOfParts = size.mostOfParts === null || most === null ? null : size.mostOfParts + most;
}

/** A picture has a token for each byte at most and those beside, up to the largest; anything else that is sent along a token for each byte. */
function mostOfPart(part: unknown): number | null {
  const bytes = inlineBytes(part);
  if (!isObject(part) || part.type !== 'image_url') return bytes;
  return bytes === null ? mostPerImage : Math.min(mostPerImage, bytes + tokensBesideImage);
}

/** The largest part of its base64 that data take. */
const bytesPerBase64 = 3 / 4;
/** Fields of a part that hold data by themselves, and not an address. */
const dataFields = new Set(['data', 'file_data']);
/** How deep a part holds its data, as in `{ file: { file_data } }`. */
const depthOfData = 3;

/** Returns the bytes that a part carries in base64; null if it only names them or points to them. */
function inlineBytes(part: unknown, depth = 0): number | null {
  if (!isObject(part) || depth > depthOfData) return null;
  let bytes: number | null = null;
  for (const key in part) {
    const value = part[key];
    const isData = typeof value === 'string' && (value.startsWith('data:') || dataFields.has(key));
    const found = isData ? Math.ceil(value.length * bytesPerBase64) : inlineBytes(value, depth + 1);
    if (found !== null) bytes = bytes === null ? found : bytes + found;
  }
  return bytes;
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
