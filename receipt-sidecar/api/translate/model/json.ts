/** Reads and writes JSON of which parts are passed on as they are written. */
import { elementsOf, membersOf } from '@gw/contract/internal/json-members';
import { type JsonObject, readJsonText } from '@gw/contract/internal/strict-json';
import type { Json } from './call.ts';

/** A value that is written by its own JSON. */
export class Written {
  readonly json: Json;

  constructor(json: Json) {
    this.json = json;
  }
}

/** Writes a value. Fields that are undefined are left out. */
export function write(value: unknown): Json {
  if (value instanceof Written) return value.json;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(write).join()}]`;
  let json = '';
  for (const name in value) {
    const member = (value as JsonObject)[name];
    if (member !== undefined) json += `${json === '' ? '{' : ','}${JSON.stringify(name)}:${write(member)}`;
  }
  return json === '' ? '{}' : `${json}}`;
}

/** Returns the JSON of a member of an object; null if it has none or null. */
export function memberOf(json: Json | null | undefined, name: string): Json | null {
  if (!json?.startsWith('{')) return null;
  const found = membersOf(json).find(([each]) => each === name)?.[1];
  return found === undefined || found === 'null' ? null : found;
}

/** Returns the JSON of each element of a list; nothing if it is none. */
export const listOf = (json: Json | null | undefined): readonly Json[] =>
  json?.startsWith('[') ? elementsOf(json) : [];

/** Returns the JSON of an object out of a text, as every parser reads it alike; null if the text holds none. */
export function objectIn(text: string): Json | null {
  const read = readJsonText(Buffer.from(text.trim() === '' ? '{}' : text));
  if (!read.ok || !isObject(read.value.value)) return null;
  const { members } = read.value;
  let json = '';
  for (const [name, value] of members) json += `${json === '' ? '{' : ','}${JSON.stringify(name)}:${value}`;
  return json === '' ? '{}' : `${json}}`;
}

export const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
/** Returns a text, or an empty one where there is none. */
export const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');
export const objectsOf = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
