/**
 * Adds `gw` and `routing_trace` to a JSON object of a provider.
 *
 * Invariants: no `gw`, `routing_trace` or `usage.gw` of the provider is left, neither in an answer nor in its message, in whatever spelling
 * and for whichever of two equal keys a reader takes; and no `__proto__`. Everything else stays as it is written, also where something had to be removed. An object that is nested deeper than any
 * reply is not read.
 */
import { endOfString, parseJson } from '@gw/contract/internal/escaped-names';
import { membersOf, objectOf } from '@gw/contract/internal/json-members';
import { prototypeName, withoutInnerNames } from './inner-names.ts';

/** The additions to a `usage`, as JSON texts. */
export interface UsageAdditions {
  /** Becomes `usage.gw`. */
  readonly usageGw: string;
  /** Becomes `usage.impacts`, in place of a provider's; null: a provider's goes all the same; absent: it stays. */
  readonly usageImpacts?: string | null;
}

/** The additions to a reply, as JSON texts. Those to its `usage` are left out if it has none. */
export interface Additions extends Partial<UsageAdditions> {
  readonly gw?: string;
  readonly routingTrace?: string;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns null if the bytes are not UTF-8, since decoding would alter them. A mark in front of the text is kept. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/** Deeper than any completion; far below what exhausts the recursion of JSON.stringify, or of a client's parser. */
const maxDepth = 128;

/** Returns null if `text` is not a JSON object, or has more than `maxParts` parts or 128 levels. */
export function parseObject(text: string, maxParts = Number.POSITIVE_INFINITY): Record<string, unknown> | null {
  if (!isBounded(text, maxParts)) return null;
  try {
    const value = parseJson(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

const quote = 0x22;
const backslash = 0x5c;

/** Scans the characters outside of strings once. The result is meaningless if the text is not JSON. */
function isBounded(text: string, maxParts: number): boolean {
  // The usual chunk is too short to hold more parts, and has too few brackets to be deep.
  if (text.length <= maxParts && count(text, '{') + count(text, '[') <= maxDepth) return true;
  let depth = 0;
  let parts = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === quote) {
      at = endOfString(text, at);
      if (at === -1) return false;
    } else if (character === 0x7b || character === 0x5b) {
      if (++depth > maxDepth || ++parts > maxParts) return false;
    } else if (character === 0x7d || character === 0x5d) depth--;
    else if (character === 0x2c && ++parts > maxParts) return false;
  }
  return true;
}

/**
 * Whether the JSON has more strings (keys included), lists and objects than `most`. These take the memory; a number takes hardly more than
 * its digits.
 */
export function holdsMoreThan(most: number, text: string): boolean {
  if (text.length <= most) return false;
  let parts = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character !== quote && character !== 0x7b && character !== 0x5b) continue;
    if (++parts > most) return true;
    if (character === quote) at = endOfString(text, at);
    if (at === -1) return false;
  }
  return false;
}

/** Counts up to a little more than `maxDepth`. Searching is many times cheaper than looking at each character. */
function count(text: string, letter: string): number {
  let found = 0;
  for (let at = text.indexOf(letter); at !== -1 && found <= maxDepth; at = text.indexOf(letter, at + 1)) found++;
  return found;
}

/** Returns `text` without forgeries and with the additions. `text` has to be the JSON that `value` was parsed from. */
export function addToObject(text: string, value: Record<string, unknown>, additions: Additions): string {
  const clean = withoutForgery(text, value);
  const whole = addsToUsage(additions) ? addToUsage(clean, value, additions) : clean;
  const added = additionsText(additions);
  if (added === '') return whole;
  const end = whole.lastIndexOf('}');
  return `${whole.slice(0, end)}${isEmptyWithoutOurs(value) ? '' : ','}${added}${whole.slice(end)}`;
}

export const addsToUsage = (additions: Additions): additions is Additions & UsageAdditions =>
  additions.usageGw !== undefined;

function addToUsage(clean: string, value: Record<string, unknown>, additions: UsageAdditions): string {
  const own = additions.usageImpacts === undefined ? clean : withoutImpacts(clean);
  const place = placeForUsage(own, value);
  if (place === null) return own;
  return `${own.slice(0, place.at)}${usageAddition(place, additions)}${own.slice(place.at)}`;
}

/** Returns the text to insert before the closing brace of a usage. */
export const usageAddition = ({ isEmpty }: Pick<UsagePlace, 'isEmpty'>, additions: UsageAdditions): string =>
  `${isEmpty ? '' : ','}${usageMembers(additions)}`;

/** Returns what a usage gets, as members of an object. */
export const usageMembers = ({ usageGw, usageImpacts }: UsageAdditions): string =>
  `"gw":${usageGw}${usageImpacts ? `,"impacts":${usageImpacts}` : ''}`;

export interface UsagePlace {
  /** The index of the closing brace of the usage in the text. */
  readonly at: number;
  readonly isEmpty: boolean;
}

const usageKey = '"usage"';
const opensObject = /[\t\n\r ]*:[\t\n\r ]*\{/y;
/** The longest text after a usage that is found from the end. */
const longestRest = 64 * 1024;

/**
 * Finds the place for `usage.gw`; null if there is no `usage` that is an object. `clean` has to be the result of `withoutForgery` for `value`.
 */
export function placeForUsage(clean: string, value: Record<string, unknown>): UsagePlace | null {
  if (!isObject(value.usage)) return null;
  const from = insideFromEnd(clean) ?? insideFromStart(clean);
  const at = from === null ? -1 : endOfObject(clean, from);
  return from === null || at === -1 ? null : { at, isEmpty: clean.slice(from, at).trim() === '' };
}

/** Returns where the inside of the object under the key `"usage"` at `key` begins; null if the value is no object. */
function insideAt(text: string, key: number): number | null {
  opensObject.lastIndex = key + usageKey.length;
  return opensObject.test(text) ? opensObject.lastIndex : null;
}

/** Returns where the inside of the usage begins if it is where most replies have it: the last of its name, near the end. */
function insideFromEnd(text: string): number | null {
  const key = text.lastIndexOf(usageKey);
  // A quote after a backslash begins no key.
  if (key === -1 || text.length - key > longestRest || text.charCodeAt(key - 1) === backslash) return null;
  const from = insideAt(text, key);
  const end = from === null ? -1 : endOfObject(text, from);
  if (end === -1) return null;
  // The rest completes an object only if the key is on its outermost level.
  try {
    JSON.parse(`{"":0${text.slice(end + 1)}`);
    return from;
  } catch {
    return null;
  }
}

/** Returns the same for a usage anywhere: the last outermost key of this name. */
function insideFromStart(text: string): number | null {
  let depth = 0;
  let found: number | null = null;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === quote) {
      if (depth === 1 && text.startsWith(usageKey, at)) found = insideAt(text, at) ?? found;
      at = endOfString(text, at);
      if (at === -1) return null;
    } else if (character === 0x7b || character === 0x5b) depth++;
    else if (character === 0x7d || character === 0x5d) depth--;
  }
  return found;
}

/** Returns the index of the brace that closes the object whose inside begins at `from`, or -1. */
function endOfObject(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === quote) {
      at = endOfString(text, at);
      if (at === -1) return -1;
    } else if (character === 0x7b) depth++;
    else if (character === 0x7d && --depth === 0) return at;
  }
  return -1;
}

/** Returns an object and its text without a usage that the client did not ask for; both unchanged if it has none. */
export function withoutUsage<T extends Record<string, unknown>>(text: string, value: T): { text: string; value: T } {
  if (!value.usage) return { text, value };
  const rest = Object.fromEntries(Object.entries(value).filter(([key]) => !isUsage(key))) as T;
  return { text: objectOf(membersOf(text).filter(([key]) => !isUsage(key))), value: rest };
}

/** Returns the additions as the inside of an object, without braces; empty if there are none. */
export const additionsText = ({ gw, routingTrace }: Additions): string =>
  [gw && `"gw":${gw}`, routingTrace && `"routing_trace":${routingTrace}`].filter(Boolean).join(',');

/** Whether an object has no key besides `gw` and `routing_trace`. */
function isEmptyWithoutOurs(value: Record<string, unknown>): boolean {
  for (const key in value) if (!isOurs(key)) return false;
  return true;
}

/**
 * Finds one of the names at any depth, or an escaped letter, for which there is no need: it could be in a `usage`, even in one that JSON.parse
 * does not show because an equal key follows, but a reader who takes the first one sees.
 */
const couldHide = /"(?:gw|routing_trace|__proto__)"|\\u00[4-7]/i;

/** Returns the text without what the provider may not say (the invariant above), unchanged if there is none of it. */
export function withoutForgery(text: string, value: Record<string, unknown>): string {
  const isHiding = couldHide.test(text);
  if (!claims(value) && !isHiding) return text;
  const members = membersOf(isHiding ? withoutInnerNames(text, isOurs) : text);
  const kept = members.filter(([key]) => !isOurs(key));
  return objectOf(kept.map(([key, json]) => [key, isUsage(key) && json.startsWith('{') ? withoutGw(json) : json]));
}

/** Some readers (Go's) ignore the case of a key and take ſ for s. The only other such letter, K (kelvin), is in no key here. */
const isOurs = (key: string): boolean =>
  (key.length === 2 && key.toLowerCase() === 'gw') ||
  (key.length === 13 && key.toLowerCase() === 'routing_trace') ||
  key === prototypeName;
const isUsage = (key: string): boolean => key.length === 5 && key.toLowerCase().replace('ſ', 's') === 'usage';
const isGw = (key: string): boolean => key.length === 2 && key.toLowerCase() === 'gw';

const withoutGw = (usage: string) => objectOf(membersOf(usage).filter(([key]) => !isGw(key)));

const couldBeImpacts = /"impact[sſ]"|\\u0(?:0[4-7]|17f)/i;
const isImpacts = (key: string): boolean => key.length === 7 && key.toLowerCase().replaceAll('ſ', 's') === 'impacts';

/** Returns the text of an object without the `usage.impacts` of a provider, in whatever spelling. */
export function withoutImpacts(text: string): string {
  if (!couldBeImpacts.test(text)) return text;
  const without = (usage: string) => objectOf(membersOf(usage).filter(([key]) => !isImpacts(key)));
  return objectOf(
    membersOf(text).map(([key, json]) => [key, isUsage(key) && json.startsWith('{') ? without(json) : json]),
  );
}

function claims(value: Record<string, unknown>): boolean {
  for (const key in value) if (isOurs(key)) return true;
  return false;
}
