/**
 * How long a prompt can be, and how long it roughly is: a check on what a provider claims, and the estimate where it
 * claims nothing.
 *
 * Invariants: a prompt has no more tokens than `mostPromptTokens`, whatever the tokenizer and the template, and no
 * fewer than its `promptTextBytes` make. Every call is measured, so a text is looked at once and none is made.
 */
import type { JsonObject } from '@gw/contract/internal/strict-json';

/** UTF-8 bytes per token: 1.6 to 9.2 over languages, code and data. Receipts carry that range into their bounds. */
export const bytesPerToken = 4;

/** Characters from which on counting the bytes is worth a call; a shorter text counts by its characters. */
const longText = 64;
/** Some servers read pictures out of the text. */
const inlinePicture = ';base64,';
/** Bytes that templates can add, estimated high: a default system prompt, the frame of a message, instructions for tools. */
export const allowance = { template: 2048, message: 64, tool: 512 } as const;

/** How long a prompt roughly is, and can be. */
export interface PromptSize {
  /** The estimate, rounded up. */
  readonly estimatedPromptTokens: number;
  /** UTF-8 bytes of text that is certain to be read. */
  readonly promptTextBytes: number;
  /** How many tokens the prompt of this body can have at most; null if the body does not tell. */
  readonly mostPromptTokens: number | null;
  /** Pictures, sound and files, whose tokens nobody can tell from the body; null if there are none. */
  readonly parts: UncountedParts | null;
}

export interface UncountedParts {
  /** The estimate has so many for them, so that budgets reserve something. */
  readonly estimatedTokens: number;
  /** How many tokens they have at most, by their size; null if one is only named, so that its size is unknown. */
  readonly mostTokens: number | null;
}

/** A sum over the parts of a prompt. */
export interface Size {
  tokens: number;
  bytes: number;
}

/** Adds a text. `isRead`: whether it is certain that the model reads it. */
export function addText(size: Size, text: string, isRead: boolean): void {
  const bytes = Buffer.byteLength(text);
  size.tokens += bytes / bytesPerToken;
  if (isRead && !text.includes(inlinePicture)) size.bytes += bytes;
}

/** Measures a text, several texts, a tokenised text, or several of those. `promptBytes` is the length of the body. */
export function sizeOfTexts(prompt: unknown, promptBytes: number): PromptSize {
  const size: Size = { tokens: 0, bytes: 0 };
  const add = (value: unknown): void => {
    if (typeof value === 'string') addText(size, value, true);
    else if (typeof value === 'number') size.tokens += 1;
    else if (Array.isArray(value)) for (const item of value) add(item);
  };
  add(prompt);
  return {
    estimatedPromptTokens: Math.ceil(size.tokens),
    promptTextBytes: size.bytes,
    mostPromptTokens: promptBytes + allowance.template,
    parts: null,
  };
}

/** Returns about how many bytes a value has as JSON, without making that. */
export function jsonBytes(value: unknown): number {
  if (typeof value === 'string') return 2 + (value.length < longText ? value.length : Buffer.byteLength(value));
  if (value === null || typeof value !== 'object') return 4;
  let bytes = 2;
  if (Array.isArray(value)) for (const item of value) bytes += jsonBytes(item) + 1;
  else for (const key in value) bytes += key.length + 4 + jsonBytes((value as JsonObject)[key]);
  return bytes;
}
