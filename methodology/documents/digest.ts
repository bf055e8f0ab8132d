/**
 * A seal over JSON: SHA-256 of its text with the keys of every object in ascending order.
 *
 * Invariant: the same JSON value gives the same digest whatever the order of its keys, so it survives any store.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** `sha256:` and 64 hexadecimal digits, over the UTF-8 bytes of the text. Synchronous, and in browsers too. */
export const sha256Of = (text: string): string => `sha256:${bytesToHex(sha256(utf8ToBytes(text)))}`;

export const digestOf = (value: unknown): string => sha256Of(sortedText(value));

/** JSON with the keys of every object in ascending order; equal values have equal texts. */
export function sortedText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(sortedText).join(',')}]`;
  const object = value as Readonly<Record<string, unknown>>;
  // One text that grows: receipts are made of this, and lists of members would be garbage of each call.
  let text = '';
  for (const key of Object.keys(object).sort()) {
    const item = object[key];
    if (item !== undefined) text += `${text === '' ? '{' : ','}${JSON.stringify(key)}:${sortedText(item)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

/** Whether both are the same JSON, whatever the order of their keys; NaN, which is none, is the same as itself. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [ours, theirs] = [Object.entries(a), new Map(Object.entries(b))];
  return ours.length === theirs.size && ours.every(([key, item]) => theirs.has(key) && sameJson(item, theirs.get(key)));
}
