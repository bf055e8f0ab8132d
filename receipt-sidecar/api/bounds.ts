/**
 * Keeps the schema check cheap, whatever a client sends: the check looks at every value and remembers every problem, so
 * that 10 MiB of wrong ones would take seconds and gigabytes.
 *
 * Invariant: what the schema gets to see has at most `maxValues` values. Texts and tokens to embed or complete, which
 * may be millions of numbers, are checked here, and the schema sees one text in their place; only in the field that the API
 * has for them.
 */

import { maxTexts } from '@gw/contract/embeddings';
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import { err, ok, type Result } from '@gw/contract/internal/result';
import type { ListField } from './port/shape.ts';

const maxValues = 50_000;
/** How many pairs an object with the client's own keys can have: each wrong pair is two problems. */
const maxPairs = { metadata: 16, logit_bias: 10_000 } as const;

const isToken = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isTokens = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every(isToken);

function isTextsOrTokens(value: readonly unknown[], isText: ListField['isText']): boolean {
  if (typeof value[0] === 'number') return isTokens(value);
  return value.length > 0 && value.length <= maxTexts && value.every(typeof value[0] === 'string' ? isText : isTokens);
}

/** Counts values, and stops when there are too many. */
function countValues(value: unknown, budget: number): number {
  if (value === null || typeof value !== 'object') return 1;
  let count = 1;
  for (const inner of Array.isArray(value) ? value : Object.values(value)) {
    count += countValues(inner, budget - count);
    if (count > budget) return count;
  }
  return count;
}

/** Returns the body as the schema gets it, with the checked `list` replaced by one text; or what is wrong. */
export function boundedForSchema(list: ListField | null, body: unknown): Result<unknown, ApiError> {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return ok(body);
  const light: Record<string, unknown> = { ...body };
  const value = list && light[list.field];
  if (list && Array.isArray(value)) {
    const { field, isText } = list;
    if (!isTextsOrTokens(value, isText)) {
      const message = `\`${field}\` is not valid: a text, up to ${maxTexts} texts, a list of tokens, or up to ${maxTexts} such lists.`;
      return err(fieldError(field, message));
    }
    light[field] = 'checked';
  }
  for (const [field, most] of Object.entries(maxPairs)) {
    const pairs = light[field];
    if (pairs !== null && typeof pairs === 'object' && Object.keys(pairs).length > most)
      return err(fieldError(field, `\`${field}\` is not valid: expected at most ${most} pairs.`));
  }
  if (countValues(light, maxValues) <= maxValues) return ok(light);
  return err(apiError('invalid_request', { message: `The body holds more than ${maxValues} values.` }));
}
