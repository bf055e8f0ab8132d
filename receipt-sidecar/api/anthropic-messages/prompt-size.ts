/** Measures the prompt of a message, by its system prompt, messages and tools. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { addText, allowance, bytesPerToken, jsonBytes, type PromptSize, type Size } from '../port/prompt-size.ts';

/** Tokens of an image of about a megapixel, by its size: width × height / 750. */
const tokensPerImage = 1600;
/** Anthropic's largest image has less than 5,000 tokens; others that speak this API are allowed as many as in a chat. */
const mostPerImage = 100_000;
const tokensPerMessage = 4;
/** The largest part of its base64 that data take. */
const bytesPerBase64 = 3 / 4;

export const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

interface MessageSize extends Size {
  images: number;
  /** Documents that are no text. */
  files: number;
  /** The most tokens that these have; null once the size of one is unknown. */
  mostOfParts: number | null;
}

/** `promptBytes` is the length of the whole body. */
export function messagePromptSize(body: JsonObject, promptBytes: number): PromptSize {
  const size: MessageSize = { tokens: 0, bytes: 0, images: 0, files: 0, mostOfParts: 0 };
  addContent(size, body.system, true);
  const messages = listOf(body.messages);
  for (const message of messages) {
    if (!isObject(message)) continue;
    size.tokens += tokensPerMessage;
    addContent(size, message.content, true);
  }
  const tools = listOf(body.tools);
  if (tools.length > 0) size.tokens += jsonBytes(tools) / bytesPerToken;
  const parts = size.images + size.files;
  const added = allowance.template + messages.length * allowance.message + tools.length * allowance.tool;
  return {
    estimatedPromptTokens: Math.ceil(size.tokens),
    promptTextBytes: size.bytes,
    // Nobody can tell the tokens of a document's pages, or of what is only linked.
    mostPromptTokens: size.files > 0 ? null : promptBytes + added + size.images * mostPerImage,
    parts: parts === 0 ? null : { estimatedTokens: parts * tokensPerImage, mostTokens: size.mostOfParts },
  };
}

/** Adds a text, or a list of blocks. `isRead`: whether it is certain that the model reads it. */
function addContent(size: MessageSize, content: unknown, isRead: boolean): void {
  if (typeof content === 'string') addText(size, content, isRead);
  for (const block of listOf(content)) if (isObject(block)) addBlock(size, block, isRead);
}

function addBlock(size: MessageSize, block: JsonObject, isRead: boolean): void {
  switch (block.type) {
    case 'text':
      if (typeof block.text === 'string') addText(size, block.text, isRead);
      return;
    // Earlier reasoning is left out of the prompt, or read by its signature.
    case 'thinking':
    case 'redacted_thinking':
      return;
    case 'image':
      return addPart(size, block.source, 'images');
    case 'document':
      return addDocument(size, block, isRead);
    case 'tool_result':
    case 'search_result':
      return addContent(size, block.content, isRead);
    default:
      size.tokens += jsonBytes(block) / bytesPerToken;
  }
}

function addDocument(size: MessageSize, { context, source, title }: JsonObject, isRead: boolean): void {
  for (const text of [title, context]) if (typeof text === 'string') addText(size, text, false);
  if (!isObject(source)) return;
  if (source.type === 'text' && typeof source.data === 'string') addText(size, source.data, isRead);
  else if (source.type === 'content') addContent(size, source.content, isRead);
  else addPart(size, source, 'files');
}

function addPart(size: MessageSize, source: unknown, kind: 'images' | 'files'): void {
  size[kind] += 1;
  size.tokens += tokensPerImage;
  const data = isObject(source) && typeof source.data === 'string' ? source.data : null;
  const most = kind === 'images' ? mostPerImage : data === null ? null : Math.ceil(data.length * bytesPerBase64);
  size.mostOfParts = size.mostOfParts === null || most === null ? null : size.mostOfParts + most;
}
