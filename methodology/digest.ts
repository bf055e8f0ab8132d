/**
 * A seal over JSON: SHA-256 of its text with the keys of every object in ascending order.
 *
 * Invariant: the same JSON value gives the same digest whatever the order of its keys, so it survives any store.
 */
import { createHash } from 'node:crypto';

/** `sha256:` and 64 hexadecimal digits. */
export function digestOf(value: unknown): string {
  return `sha256:${createHash('sha256').update(sortedText(value), 'utf8').digest('hex')}`;
}

/** JSON with the keys of every object in ascending order; equal values have equal texts. */
export function sortedText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${sortedText(item)}`).join(',')}}`;
}
