/** How many tokens pictures, sound and files of a prompt can have, of which nobody knows more than their bytes. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { Size, UncountedParts } from '../port/prompt-size.ts';

/** Tokens of a part that is not text: an image of 1024 × 1024 in OpenAI's tiling. */
const tokensPerPart = 765;
/** A small file can be a large picture of one colour, and some models count thousands for the smallest one. */
const tokensBesideImage = 10_000;
/** OpenAI's largest image (gpt-4o-mini, high detail) has 48,169 tokens; others are allowed about twice that. */
export const mostPerImage = 100_000;

const isObject = (value: unknown): value is JsonObject => value !== null && typeof value === 'object';

export interface SizeWithParts extends Size {
  parts: number;
  /** Null once the size of one is unknown. */
  mostOfParts: number | null;
}

export const noSize = (): SizeWithParts => ({ tokens: 0, bytes: 0, parts: 0, mostOfParts: 0 });

/** Adds a part that is not text. */
export function addPart(size: SizeWithParts, part: unknown, isImage: boolean): void {
  size.parts += 1;
  size.tokens += tokensPerPart;
  const most = mostOfPart(part, isImage);
  size.mostOfParts = size.mostOfParts === null || most === null ? null : size.mostOfParts + most;
}

export const uncounted = ({ mostOfParts, parts }: SizeWithParts): UncountedParts | null =>
  parts === 0 ? null : { estimatedTokens: parts * tokensPerPart, mostTokens: mostOfParts };

/** A picture has a token for each byte at most and those beside, up to the largest; anything else that is sent along a token for each byte. */
function mostOfPart(part: unknown, isImage: boolean): number | null {
  const bytes = inlineBytes(part);
  if (!isImage) return bytes;
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
