/** The fields of a request: as values to judge, and as they are written, to be passed on. */
import { type ApiError, fieldError } from '@gw/contract/errors';
import { membersOf, objectOf } from '@gw/contract/internal/json-members';
import { err, ok, type Result } from '@gw/contract/internal/result';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { FieldTexts } from './port/shape.ts';

export interface Fields {
  readonly body: JsonObject;
  /** They hold what goes on to the provider. */
  readonly texts: FieldTexts;
}

interface Unwrapped extends Fields {
  /** The names that stood in `extra_body`. */
  readonly hoisted: ReadonlySet<string>;
}

/**
 * Google reads its own options in a literal `extra_body` alone (https://ai.google.dev/gemini-api/docs/openai), so there they go on. All else in
 * one is meant as what the SDKs send of their parameter of this name: fields at the top.
 */
const staysInside = 'google';

/**
 * Returns the fields with the members of a literal `extra_body` among them. `extra_body.gw` stays there in `body`, since errors name it by this
 * place; `texts` have no `gw`.
 */
export function unwrapped(body: JsonObject, texts: FieldTexts): Result<Unwrapped, ApiError> {
  if (!texts.has('gw') && !texts.has('extra_body')) return ok({ body, texts, hoisted: nothing });
  const { extra_body: extra, ...own } = body;
  const others = isObject(extra) ? Object.entries(extra).filter(([name]) => name !== 'gw') : [];
  const twice = others.find(([name]) => Object.hasOwn(body, name));
  if (twice) return err(twiceError(twice[0].slice(0, 64)));
  const written = new Map<string, string>();
  for (const [name, json] of texts) {
    if (name === 'extra_body' && isObject(extra))
      for (const [inner, value] of membersOf(json)) {
        if (inner === staysInside) written.set(name, objectOf([[inner, value]]));
        else if (inner !== 'gw') written.set(inner, value);
      }
    else if (name !== 'gw' && name !== 'extra_body') written.set(name, json);
  }
  const hoisted = new Set(others.map(([name]) => name));
  if (!isObject(extra) || others.length === 0) return ok({ body, texts: written, hoisted });
  const entries = [...Object.entries(own), ...others, ['extra_body', { gw: extra.gw }] as const];
  return ok({ body: Object.fromEntries(entries), texts: written, hoisted });
}

const nothing: ReadonlySet<string> = new Set();

const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

function twiceError(name: string): ApiError {
  const param = `extra_body.${name}`;
  const message = `\`${name}\` and \`${param}\` are the same field, since the members of \`extra_body\` count as fields of the request. Send one of them.`;
  return { ...fieldError('extra_body', message), param };
}
