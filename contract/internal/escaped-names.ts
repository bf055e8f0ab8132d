/**
 * Parses JSON whose names contain escapes, which JSON.parse may confuse: V8 13 and 14 (Node 24 and 26), once they have seen a name
 * with a backslash, read `"\""` or `"\n"` as that name (https://github.com/nodejs/node/issues/63785). So one customer's request could
 * change how another one is read, and how a reply is rewritten (legacy completions name their tokens in `top_logprobs`). JSON from
 * outside that is passed on must be parsed here; all other JSON has names of our own.
 */
import { elementAt } from './defined.ts';

export interface EscapedName {
  readonly name: string;
  /** Its position in the text, including the quotes. */
  readonly from: number;
  readonly to: number;
}

/** Half of a surrogate pair, which text decoded from UTF-8 can contain only as an escape. */
const mark = '\udc00';
const backslash = 0x5c;

/** Like JSON.parse, for text decoded from UTF-8. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const names = text.includes('\\') ? escapedNames(text) : [];
  return names.length === 0 ? value : parseEscapedNames(text, names);
}

/** Like `parseJson`, with all names that contain escapes, in order. */
export function parseEscapedNames(text: string, names: readonly EscapedName[]): unknown {
  let plain = '';
  let at = 0;
  for (const [index, { from, to }] of names.entries()) {
    plain += `${text.slice(at, from)}"${mark}${index}"`;
    at = to;
  }
  return renamed(JSON.parse(plain + text.slice(at)), names);
}

/** Index of the closing quote of the string that opens at `open`, or -1. */
export function endOfString(text: string, open: number): number {
  for (let end = text.indexOf('"', open + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}

const isName = /\s*:/y;

function escapedNames(text: string): EscapedName[] {
  const names: EscapedName[] = [];
  for (let from = text.indexOf('"'); from !== -1; ) {
    const to = endOfString(text, from) + 1;
    isName.lastIndex = to;
    const literal = text.slice(from, to);
    if (literal.includes('\\') && isName.test(text)) names.push({ name: String(JSON.parse(literal)), from, to });
    from = text.indexOf('"', to);
  }
  return names;
}

/** Restores the names; objects without any stay unchanged. */
function renamed(value: unknown, names: readonly EscapedName[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const object = value as Record<string, unknown>;
  for (const [key, item] of Object.entries(object)) object[key] = renamed(item, names);
  if (!Object.keys(object).some((key) => key.startsWith(mark))) return object;
  const nameOf = (key: string) => (key.startsWith(mark) ? elementAt(names, Number(key.slice(1))).name : key);
  return Object.fromEntries(Object.entries(object).map(([key, item]) => [nameOf(key), item]));
}
