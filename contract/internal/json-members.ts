/**
 * Takes a JSON object or list apart without changing how its values are written: the order of names, the digits of numbers and the escapes
 * of texts stay as they are.
 */
import { endOfString } from './escaped-names.ts';

/** A member of an object: its name, and its value as JSON. */
export type Member = readonly [name: string, json: string];

const quote = 0x22;

/** Returns the members of an object in their order, all of those with one name. `json` has to be the valid JSON of an object. */
export function membersOf(json: string): Member[] {
  const members: Member[] = [];
  for (const part of partsOf(json)) {
    const end = endOfString(part, 0) + 1;
    members.push([nameOf(part.slice(0, end)), part.slice(part.indexOf(':', end) + 1).trim()]);
  }
  return members;
}

/** Returns the elements of a list. `json` has to be the valid JSON of a list. */
export const elementsOf = (json: string): string[] => partsOf(json);

export function objectOf(members: Iterable<Member>): string {
  let json = '';
  for (const [name, value] of members) json += `${json === '' ? '{' : ','}${JSON.stringify(name)}:${value}`;
  return json === '' ? '{}' : `${json}}`;
}

/** Reads a name from its literal. */
export const nameOf = (literal: string): string =>
  literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1);

/** Returns what stands between the commas of the outermost level. */
function partsOf(json: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === quote) at = endOfString(json, at);
    else if (code === 0x7b || code === 0x5b) {
      if (++depth === 1) from = at + 1;
    } else if (code === 0x7d || code === 0x5d) {
      if (--depth > 0) continue;
      const last = json.slice(from, at).trim();
      if (last !== '') parts.push(last);
      return parts;
    } else if (code === 0x2c && depth === 1) {
      parts.push(json.slice(from, at).trim());
      from = at + 1;
    }
  }
  return parts;
}
