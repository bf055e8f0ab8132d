/**
 * The RFC 8785 form of a parsed body of any size: keys in the order of their UTF-16 code units, all else as ECMAScript
 * writes it.
 *
 * Invariant: numbers and texts, of which a body may hold millions, are written by the engine itself, a whole list at once;
 * only objects and lists of those, of which strict JSON lets few through, cost a step each.
 */
import type { JsonObject } from './strict-json.ts';

const isPlain = (value: unknown): boolean => value === null || typeof value !== 'object';

export function canonicalText(value: unknown): string {
  if (Array.isArray(value))
    return value.every(isPlain) ? JSON.stringify(value) : `[${value.map(canonicalText).join(',')}]`;
  if (isPlain(value)) return JSON.stringify(value);
  const object = value as JsonObject;
  const members = Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalText(object[key])}`);
  return `{${members.join(',')}}`;
}
