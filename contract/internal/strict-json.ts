/**
 * Accepts only JSON that every parser reads alike.
 *
 * Invariant: accepted input is valid UTF-8, at most 64 levels deep, without duplicate keys, NUL, lone surrogates or numbers out of
 * range, so the provider cannot read it differently. Input with too many parts is refused while it is read: building millions of
 * objects or keys would block every other call for seconds.
 */
import { errorText } from './error-text.ts';
import { type EscapedName, endOfString, parseEscapedNames } from './escaped-names.ts';
import { err, ok, type Result } from './result.ts';

export type JsonObject = Record<string, unknown>;
interface NotStrict {
  readonly problem: string;
  readonly why: 'malformed' | 'too many parts';
  /** For a number out of range: the top-level field with this value, if there is one. */
  readonly field?: string;
}
export type StrictJson = Result<unknown, NotStrict>;

const maxDepth = 64;
/** Keys, strings, lists and objects; no legitimate request has as many. Numbers are cheap and not counted. */
const maxParts = 120_000;
const tooManyParts = 'too many parts';
const refuse = (problem: string): StrictJson => err({ problem, why: 'malformed' });

// With a byte order mark JSON.parse fails.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** `mostParts`: a lower limit, for callers that hand larger bodies to another thread. */
export function parseStrictJson(bytes: Uint8Array, mostParts = maxParts): StrictJson {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return refuse('The body is not valid UTF-8.');
  }
  if (text.trim() === '') return refuse('The body is empty; send a JSON object.');
  // Before JSON.parse, because hostile nesting could exhaust its recursion.
  const escaped: EscapedName[] = [];
  const found = structureProblem(text, mostParts, escaped);
  if (found?.problem === tooManyParts)
    return err({ problem: `The body holds more than ${maxParts} parts.`, why: tooManyParts });
  if (found) return err({ why: 'malformed', ...found });
  let value: unknown;
  try {
    value = JSON.parse(text);
    if (escaped.length > 0) value = parseEscapedNames(text, escaped);
  } catch (error) {
    return refuse(`The body is not valid JSON: ${errorText(error).slice(0, 200)}`);
  }
  // Only an escape can contain NUL or half of a surrogate pair.
  if (text.includes('\\u') && hasBadCharacter(value))
    return refuse('A string in the body holds NUL or half of a surrogate pair.');
  return ok(value);
}

interface Frame {
  /** Keys of an object so far; null for an array. */
  readonly keys: Set<string> | null;
  /** Whether the next string is a key. */
  expectKey: boolean;
}

const quote = 0x22;

const numberToken = /[-+.0-9eE]+/y;

interface StructureProblem {
  readonly problem: string;
  readonly field?: string;
}

/**
 * Finds problems that JSON.parse accepts, and leaves syntax errors to it. Adds names with escapes to `escaped`.
 */
function structureProblem(text: string, mostParts: number, escaped: EscapedName[]): StructureProblem | null {
  const frames: Frame[] = [];
  let parts = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const frame = frames[frames.length - 1];
    if ((code === quote || code === 0x7b || code === 0x5b) && ++parts > mostParts) return { problem: tooManyParts };
    if (code === quote) {
      const end = endOfString(text, i);
      if (end === -1) return null;
      if (frame?.keys && frame.expectKey) {
        frame.expectKey = false;
        const key = unescaped(text.slice(i, end + 1));
        if (frame.keys.has(key))
          return { problem: `The key ${JSON.stringify(key.slice(0, 60))} stands twice in one object.` };
        frame.keys.add(key);
        if (key.length !== end - i - 1) escaped.push({ name: key, from: i, to: end + 1 });
      }
      i = end;
    } else if (code === 0x7b || code === 0x5b) {
      if (frames.length === maxDepth) return { problem: `The body is nested deeper than ${maxDepth} levels.` };
      frames.push(code === 0x7b ? { keys: new Set(), expectKey: true } : { keys: null, expectKey: false });
    } else if (code === 0x7d || code === 0x5d) {
      frames.pop();
    } else if (code === 0x2c) {
      if (frame) frame.expectKey = true;
    } else if ((code >= 0x30 && code <= 0x39) || code === 0x2d) {
      numberToken.lastIndex = i;
      const token = numberToken.exec(text)?.[0] ?? '-';
      if (token.length > 3 && inexact(token)) {
        const field = frames.length === 1 && frame?.keys ? [...frame.keys].at(-1) : undefined;
        return { problem: 'A number in the body is out of range.', ...(field !== undefined && { field }) };
      }
      i += token.length - 1;
    }
  }
  return null;
}

/** Whether a double cannot hold the number, or not exactly if it is an integer. Malformed ones are left to JSON.parse. */
function inexact(token: string): boolean {
  if (/^-?\d+$/.test(token)) return !Number.isSafeInteger(Number(token));
  return /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(token) && !Number.isFinite(Number(token));
}

function unescaped(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1);
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal;
  }
}

const bad = (text: string) => text.includes('\0') || !text.isWellFormed();

function hasBadCharacter(value: unknown): boolean {
  if (typeof value === 'string') return bad(value);
  if (Array.isArray(value)) return value.some(hasBadCharacter);
  if (value !== null && typeof value === 'object')
    return Object.entries(value).some(([key, inner]) => bad(key) || hasBadCharacter(inner));
  return false;
}
