/** Changes the text of a response, and leaves all else of it as the provider wrote it. */
import { type Member, membersOf, objectOf } from '@gw/contract/internal/json-members';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { parseObject, withoutForgery } from '../../wire/json-body.ts';
import { isObject } from './items.ts';

/** Changes the objects of this name in an object. */
export const changedMember = (
  text: string,
  name: string,
  change: (json: string, value: JsonObject) => string,
): string =>
  objectOf(
    membersOf(text).map(([each, json]): Member => {
      const value = each === name ? parseObject(json) : null;
      return [each, value === null ? json : change(json, value)];
    }),
  );

/** Changes the texts of this name in an object. */
export const changedLiteral = (text: string, name: string, change: (literal: string) => string): string =>
  objectOf(membersOf(text).map(([each, json]) => [each, each === name && json.startsWith('"') ? change(json) : json]));

/** Returns a response that says that it is not stored, and nothing that only the gateway may say. */
export function notStored(text: string, value: JsonObject): string {
  const clean = withoutForgery(text, value);
  if (value.store === false) return clean;
  return objectOf([...membersOf(clean).filter(([name]) => name !== 'store'), ['store', 'false']]);
}

/** Words of OpenAI's, by which clients decide whether to try again. */
const knownCode = /^[a-z_]{1,64}$/;

/** Returns a response that has failed with our words in place of the provider's. */
export function wordsForClient(text: string, response: unknown, message: string): string {
  const stated = isObject(response) && isObject(response.error) ? response.error.code : null;
  const code = typeof stated === 'string' && knownCode.test(stated) ? stated : 'server_error';
  const error = JSON.stringify({ code, message });
  return objectOf([...membersOf(text).filter(([name]) => name !== 'error'), ['error', error]]);
}
