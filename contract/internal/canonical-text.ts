/**
 * The RFC 8785 form of a parsed body of any size: keys in the order of their UTF-16 code units, the rest as ECMAScript writes it.
 *
 * Invariant: JSON.stringify writes numbers and strings, of which a body may hold millions, a whole list at a time. Only objects and
 * lists of objects, whose number strict JSON limits, cost a step each.
 */
import type { JsonObject } from './strict-json.ts';

const isPlain = (value: unknown): boolean => value === null || typeof value !== 'object';

export function canonicalText(value: unknown): string {
  if (isPlain(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return value.every(isPlain) ? JSON.stringify(value) : listText(value);
  const object = value as JsonObject;
  let text = '';
  // Appending is cheaper than joining a list, which would be garbage for each call.
  for (const key of Object.keys(object).sort())
    text += `${text === '' ? '{' : ','}${JSON.stringify(key)}:${canonicalText(object[key])}`;
  return text === '' ? '{}' : `${text}}`;
}

function listText(items: readonly unknown[]): string {
  let text = '[';
  for (const [index, item] of items.entries()) text += `${index === 0 ? '' : ','}${canonicalText(item)}`;
  return `${text}]`;
}
