/** Measures the prompt of a response, by its instructions, items and tools. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { addPart, mostPerImage, noSize, type SizeWithParts, uncounted } from '../openai/parts-size.ts';
import { addText, allowance, bytesPerToken, jsonBytes, type PromptSize } from '../port/prompt-size.ts';
import { isObject, itemsOf, listOf } from './items.ts';

/** Tokens that frame an item, as in OpenAI's chat format. */
const tokensPerItem = 4;
/** Fields of an item that hold what the model wrote or was told, as a text or as parts. */
const spoken = ['content', 'output', 'summary'] as const;
/** Parts that are pictures, in the items of people and of tools. */
const isImage = (type: unknown): boolean => type === 'input_image' || type === 'computer_screenshot';

/** `promptBytes` is the length of the whole body. */
export function responsePromptSize(body: JsonObject, promptBytes: number): PromptSize {
  const size = noSize();
  const { input, instructions, text, tools } = body;
  for (const whole of [instructions, input]) if (typeof whole === 'string') addText(size, whole, true);
  const items = itemsOf(body);
  for (const item of items) addItem(size, item);
  for (const beside of [tools, isObject(text) ? text.format : null])
    if (beside) size.tokens += jsonBytes(beside) / bytesPerToken;
  return {
    estimatedPromptTokens: Math.ceil(size.tokens),
    promptTextBytes: size.bytes,
    mostPromptTokens: mostPromptTokens(items, listOf(tools).length, promptBytes),
    parts: uncounted(size),
  };
}

function addItem(size: SizeWithParts, item: JsonObject): void {
  size.tokens += tokensPerItem;
  // Templates leave out earlier reasoning, which may stand among what the assistant has said.
  const isRead = item.role !== 'assistant' && item.type !== 'reasoning';
  for (const field of spoken) {
    const value = item[field];
    if (typeof value === 'string') addText(size, value, isRead);
    else if (Array.isArray(value)) for (const part of value) addPartOf(size, part, isRead);
    else if (isObject(value)) addPartOf(size, value, isRead);
  }
  const { arguments: called, encrypted_content: encrypted, input } = item;
  // Only the size is known of reasoning that is encrypted.
  for (const text of [called, input, encrypted]) if (text) size.tokens += jsonBytes(text) / bytesPerToken;
}

function addPartOf(size: SizeWithParts, part: unknown, isRead: boolean): void {
  const text = isObject(part) ? (part.text ?? part.refusal) : null;
  if (typeof text === 'string') addText(size, text, isRead);
  else if (isObject(part) && isMedium(part)) addPart(size, part, isImage(part.type));
  else size.tokens += jsonBytes(part) / bytesPerToken;
}

const media: ReadonlySet<unknown> = new Set(['input_image', 'input_file', 'input_audio', 'computer_screenshot']);
const isMedium = ({ type }: JsonObject): boolean => media.has(type);

/** Returns null if bytes say nothing: files and sound can be references, and so can items that are only known by a name. */
function mostPromptTokens(items: readonly JsonObject[], tools: number, promptBytes: number): number | null {
  let images = 0;
  for (const item of items) {
    for (const field of spoken) {
      const value = item[field];
      for (const part of isObject(value) ? [value] : listOf(value)) {
        if (isImage(part.type)) images += 1;
        else if (typeof part.type === 'string' && typeof (part.text ?? part.refusal) !== 'string') return null;
      }
    }
    if (item.type === 'compaction') return null;
  }
  const added = allowance.template + (items.length + 1) * allowance.message + tools * allowance.tool;
  return promptBytes + added + images * mostPerImage;
}
