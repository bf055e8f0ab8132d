/**
 * Translates a problem that a schema found into one error that names one field.
 *
 * Invariant: codes are stable. They are made of names of the API alone, never of a key that the client chose.
 */

import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import { elementAt } from '@gw/contract/internal/defined';
import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** Objects whose keys are the client's. */
const keyedByClient = new Set<PropertyKey | undefined>(['logit_bias', 'metadata']);

/** `messages[0].role` from ['messages', 0, 'role']. */
function jsonPath(path: readonly PropertyKey[]): string {
  return path
    .map((part, at) => (typeof part === 'number' ? `[${part}]` : at === 0 ? String(part) : `.${String(part)}`))
    .join('');
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const part of path)
    at = at !== null && typeof at === 'object' ? (at as Record<PropertyKey, unknown>)[part] : undefined;
  return at;
}

/** How many characters of a client's own key are repeated in an error. */
const longestName = 64;
const short = (part: PropertyKey): PropertyKey => (typeof part === 'string' ? part.slice(0, longestName) : part);

/** Returns, for a value of several forms, the problem of the form that it comes closest to: the deepest one. */
function deepest(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue;
  let found: Issue = issue;
  for (const [first] of issue.errors) {
    if (!first || first.path.length === 0) continue;
    const inner = deepest({ ...first, path: [...issue.path, ...first.path] });
    if (inner.path.length > found.path.length) found = inner;
  }
  return found;
}

/** Returns the first problem, in the order of the schema. `value` is what was checked. */
export function schemaError(error: z.ZodError, value: unknown): ApiError {
  const issue = error.issues[0] && deepest(error.issues[0]);
  if (!issue || (issue.path.length === 0 && issue.code !== 'unrecognized_keys')) {
    return apiError('invalid_json', { message: 'The body has to be a JSON object.' });
  }
  const path = issue.path.map(short);
  const param = jsonPath(path);
  if (issue.code === 'unrecognized_keys') {
    // Only the options of the gateway are a closed list.
    const unknown = `${param}.${String(short(elementAt(issue.keys, 0)))}`;
    return { ...fieldError('gw', `\`${unknown}\` is not a known option.`), param: unknown };
  }
  if (valueAt(value, issue.path) === undefined) {
    return apiError('missing_required_parameter', { message: `\`${param}\` is required.`, param });
  }
  const reason = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  const message = `\`${param}\` is not valid: ${reason.slice(0, 200)}.`;
  return { ...fieldError(keyedByClient.has(path[0]) ? String(path[0]) : param, message), param };
}
