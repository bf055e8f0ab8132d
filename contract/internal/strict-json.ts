/**
 * Accepts only JSON that every parser reads alike.
 *
 * Invariant: accepted input is valid UTF-8, at most 64 levels deep, and without duplicate keys. Input with too many parts is refused while
 * it is read: building millions of objects or keys would block every other call for seconds.
 */
import { errorText } from './error-text.ts';
import { type EscapedName, endOfString, parseEscapedNames } from './escaped-names.ts';
import { nameOf } from './json-members.ts';
import { err, ok, type Result } from './result.ts';
import { wellFormed } from './well-formed.ts';

export type JsonObject = Record<string, unknown>;
interface NotStrict {
  readonly problem: string;
  readonly why: 'malformed' | 'too many parts';
}
export type StrictJson = Result<unknown, NotStrict>;

/** JSON that is passed on as it is written. */
export interface JsonText {
  readonly value: unknown;
  /** The values of the outermost object as they are written, by name and in their order; empty if there is no object. */
  readonly members: ReadonlyMap<string, string>;
  /** The numbers that a double cannot hold, or not exactly if they are whole, in their order. In `value` they are others. */
  readonly inexact: readonly string[];
}

const maxDepth = 64;
/** Keys, strings, lists and objects; no legitimate request has as many. Numbers are cheap and not counted. */
const maxParts = 120_000;
/** Reading a number of millions of digits takes some servers hours. */
const longestNumber = 1024;
const tooManyParts = 'too many parts';
const refuse = (problem: string): Result<never, NotStrict> => err({ problem, why: 'malformed' });

// With a byte order mark JSON.parse fails.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns bytes without the mark that some programs write before UTF-8. */
export const withoutMark = <T extends Uint8Array>(bytes: T): T =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? (bytes.subarray(3) as T) : bytes;

/**
 * Reads JSON that has no NUL, no half of a surrogate pair and no number that a double does not hold. `mostParts`: a lower limit, for callers
 * that hand larger bodies to another thread.
 */
export function parseStrictJson(bytes: Uint8Array, mostParts = maxParts): StrictJson {
  const decoded = decode(bytes);
  if (!decoded.ok) return decoded;
  const read = readText(decoded.value, mostParts);
  if (!read.ok) return read;
  if (isIllFormed(decoded.value, read.value.value))
    return refuse('A string in the body holds NUL or half of a surrogate pair.');
  if (read.value.inexact.length > 0) return refuse('A number in the body is out of range.');
  return ok(read.value.value);
}

/**
 * Reads JSON that is passed on in its own words, so that the next reader gets each number and the order of all names as they were written.
 * It differs from the input in nothing but what could be read in two ways: names are written without needless escapes, and NUL and
 * halves of surrogate pairs are U+FFFD.
 */
export function readJsonText(bytes: Uint8Array, mostParts = maxParts): Result<JsonText, NotStrict> {
  const decoded = decode(withoutMark(bytes));
  if (!decoded.ok) return decoded;
  const read = readText(decoded.value, mostParts);
  return read.ok && isIllFormed(decoded.value, read.value.value)
    ? readText(wellFormed(decoded.value), mostParts)
    : read;
}

function decode(bytes: Uint8Array): Result<string, NotStrict> {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return refuse('The body is not valid UTF-8.');
  }
  return text.trim() === '' ? refuse('The body is empty; send a JSON object.') : ok(text);
}

function readText(text: string, mostParts: number): Result<JsonText, NotStrict> {
  // Before JSON.parse, because hostile nesting could exhaust its recursion.
  const structure = structureOf(text, mostParts);
  if (structure.problem === tooManyParts)
    return err({ problem: `The body holds more than ${maxParts} parts.`, why: tooManyParts });
  if (structure.problem !== null) return refuse(structure.problem);
  const { escaped, inexact, members } = structure;
  try {
    const value: unknown = JSON.parse(text);
    if (escaped.length === 0) return ok({ value, members, inexact });
    const respelled = withNames(text, escaped);
    return ok({
      value: parseEscapedNames(text, escaped),
      members: respelled === text ? members : structureOf(respelled, mostParts).members,
      inexact,
    });
  } catch (error) {
    return refuse(`The body is not valid JSON: ${errorText(error).slice(0, 200)}`);
  }
}

/** Returns the text with the names written as JSON.stringify writes them. */
function withNames(text: string, names: readonly EscapedName[]): string {
  let written = '';
  let at = 0;
  for (const { from, name, to } of names) {
    written += text.slice(at, from) + JSON.stringify(name);
    at = to;
  }
  return written + text.slice(at);
}

interface Frame {
  /** Keys of an object so far; null for an array. */
  readonly keys: Set<string> | null;
  /** Whether the next string is a key. */
  expectKey: boolean;
}

const quote = 0x22;

const numberToken = /[-+.0-9eE]+/y;

interface Structure extends Pick<JsonText, 'inexact'> {
  /** A problem that JSON.parse accepts. Syntax errors are left to it, and make the rest meaningless. */
  problem: string | null;
  /** The names with escapes. */
  readonly escaped: EscapedName[];
  readonly members: Map<string, string>;
  readonly inexact: string[];
}

function structureOf(text: string, mostParts: number): Structure {
  const found: Structure = { problem: null, escaped: [], members: new Map(), inexact: [] };
  const frames: Frame[] = [];
  let parts = 0;
  // The member of the outermost object that is being read: its name, and where that ends.
  let member = '';
  let memberAt = -1;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const frame = frames[frames.length - 1];
    if ((code === quote || code === 0x7b || code === 0x5b) && ++parts > mostParts)
      return { ...found, problem: tooManyParts };
    if (code === quote) {
      const end = endOfString(text, i);
      if (end === -1) return found;
      if (frame?.keys && frame.expectKey) {
        frame.expectKey = false;
        const key = unescaped(text.slice(i, end + 1));
        if (frame.keys.has(key))
          return { ...found, problem: `The key ${JSON.stringify(key.slice(0, 60))} stands twice in one object.` };
        frame.keys.add(key);
        if (key.length !== end - i - 1) found.escaped.push({ name: key, from: i, to: end + 1 });
        if (frames.length === 1) {
          member = key;
          memberAt = end + 1;
        }
      }
      i = end;
    } else if (code === 0x7b || code === 0x5b) {
      if (frames.length === maxDepth)
        return { ...found, problem: `The body is nested deeper than ${maxDepth} levels.` };
      frames.push(code === 0x7b ? { keys: new Set(), expectKey: true } : { keys: null, expectKey: false });
    } else if (code === 0x7d || code === 0x5d) {
      if (frames.length === 1 && memberAt !== -1) {
        found.members.set(member, valueIn(text, memberAt, i));
        memberAt = -1;
      }
      frames.pop();
    } else if (code === 0x2c) {
      if (frames.length === 1 && memberAt !== -1) {
        found.members.set(member, valueIn(text, memberAt, i));
        memberAt = -1;
      }
      if (frame) frame.expectKey = true;
    } else if ((code >= 0x30 && code <= 0x39) || code === 0x2d) {
      numberToken.lastIndex = i;
      const token = numberToken.exec(text)?.[0] ?? '-';
      if (token.length > longestNumber)
        return { ...found, problem: `A number in the body has more than ${longestNumber} characters.` };
      if (token.length > 3 && isInexact(token)) found.inexact.push(token);
      i += token.length - 1;
    }
  }
  return found;
}

/** Returns the value of a member between its name and what ends it. */
const valueIn = (text: string, from: number, to: number): string => text.slice(text.indexOf(':', from) + 1, to).trim();

/** Whether a double cannot hold the number, or not exactly if it is an integer. Malformed ones are left to JSON.parse. */
function isInexact(token: string): boolean {
  if (/^-?\d+$/.test(token)) return !Number.isSafeInteger(Number(token));
  return /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(token) && !Number.isFinite(Number(token));
}

function unescaped(literal: string): string {
  try {
    return nameOf(literal);
  } catch {
    return literal;
  }
}

/** Whether a text holds NUL or half of a surrogate pair, which only an escape can contain. `value` is its value. */
const isIllFormed = (text: string, value: unknown): boolean => text.includes('\\u') && hasBadCharacter(value);

const bad = (text: string) => text.includes('\0') || !text.isWellFormed();

function hasBadCharacter(value: unknown): boolean {
  if (typeof value === 'string') return bad(value);
  if (Array.isArray(value)) return value.some(hasBadCharacter);
  if (value !== null && typeof value === 'object')
    return Object.entries(value).some(([key, inner]) => bad(key) || hasBadCharacter(inner));
  return false;
}
