/**
 * Reads JSON of any length part by part: the members of some objects and the items of their lists come one after the other, as
 * the bytes that they are written in.
 *
 * Invariants: it holds one part at a time, of at most `mostBytes`. It finds where parts begin and end, and duplicate members; `parsePart`
 * tells whether a part is JSON. We have a reader of our own because the digest of a part is over its bytes, and
 * because readers that give tokens take minutes for what this one reads in seconds.
 */
import { parseStrictJson } from '@gw/contract/internal/strict-json';
import { canonicalText } from './canonical.ts';
import { PackFileError } from './pack-file.ts';

export interface JsonPart {
  /** The names of the members that lead to the part, separated by slashes (`~1` is a slash in a name). The items of a list have the path of the list. */
  readonly path: string;
  readonly isItem: boolean;
  readonly bytes: Uint8Array;
}

export const notJson = (problem: string): PackFileError => new PackFileError(`cannot be read as JSON: ${problem}`);

/** No part of a genuine pack is nearly as long. */
const mostBytes = 64 * 1024 * 1024;

const char = (text: string): number => text.charCodeAt(0);
const [quote, backslash, comma, colon] = [char('"'), char('\\'), char(','), char(':')];
const [openObject, closeObject, openList, closeList] = [char('{'), char('}'), char('['), char(']')];
const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** `isSplit`: whether the value at a path comes in parts, if it is an object or a list. The path of the whole text is `''`. */
export async function* jsonParts(
  chunks: AsyncIterable<Uint8Array>,
  isSplit: (path: string) => boolean,
): AsyncGenerator<JsonPart> {
  const reader = new Reader(chunks);
  yield* value('', reader, isSplit);
  if ((await reader.next()) !== null) throw notJson('There is something behind its end.');
}

async function* value(path: string, reader: Reader, isSplit: (path: string) => boolean): AsyncGenerator<JsonPart> {
  const first = await reader.next();
  if (isSplit(path) && first === openObject) yield* members(path, reader, isSplit);
  else if (isSplit(path) && first === openList) yield* items(path, reader);
  else yield { path, isItem: false, bytes: await reader.take() };
}

async function* members(path: string, reader: Reader, isSplit: (path: string) => boolean): AsyncGenerator<JsonPart> {
  const seen = new Set<string>();
  for await (const _ of separated(reader, closeObject)) {
    const name = nameIn(await reader.take());
    if (seen.has(name)) throw notJson(`The key "${name}" stands twice in one object.`);
    seen.add(name);
    if ((await reader.next()) !== colon) throw notJson(`The key "${name}" has no value.`);
    reader.skip();
    const step = name.replaceAll('/', '~1');
    yield* value(path === '' ? step : `${path}/${step}`, reader, isSplit);
  }
}

async function* items(path: string, reader: Reader): AsyncGenerator<JsonPart> {
  for await (const _ of separated(reader, closeList)) yield { path, isItem: true, bytes: await reader.take() };
}

/** Stops in front of each thing between the bracket at which the reader is and the one that ends it. */
async function* separated(reader: Reader, close: number): AsyncGenerator<void> {
  reader.skip();
  if ((await reader.next()) === close) return reader.skip();
  for (;;) {
    yield;
    const end = await reader.next();
    if (end !== comma && end !== close) throw notJson('Something between two parts is no comma.');
    reader.skip();
    if (end === close) return;
  }
}

// Keeps a byte order mark, which is no JSON.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns the value of a part and its text by RFC 8785. Throws PackFileError if another program could read it as something else. */
export function parsePart(bytes: Uint8Array): { readonly value: unknown; readonly text: string } {
  try {
    const written = decoder.decode(bytes);
    const value: unknown = JSON.parse(written);
    // A canonical text has no duplicate members, and nothing else that programs read in different ways.
    if (canonicalText(value) === written) return { value, text: written };
  } catch {
    // The strict parser says what is wrong with it.
  }
  const strict = parseStrictJson(bytes, Number.POSITIVE_INFINITY);
  if (!strict.ok) throw notJson(strict.error.problem);
  return { value: strict.value, text: canonicalText(strict.value) };
}

function nameIn(bytes: Uint8Array): string {
  const { value } = parsePart(bytes);
  if (typeof value !== 'string') throw notJson('A key is no text.');
  return value;
}

class Reader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #room = new Uint8Array(0);
  /** The filled beginning of the room. What lies before `#at` has been given away. */
  #filled = this.#room;
  #at = 0;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Returns the next byte that is no space, without consuming it; null at the end. */
  async next(): Promise<number | null> {
    for (;;) {
      const byte = this.#filled[this.#at];
      if (byte === undefined) {
        if (!(await this.#more())) return null;
      } else if (isSpace(byte)) this.#at += 1;
      else return byte;
    }
  }

  skip(): void {
    this.#at += 1;
  }

  /** Returns the bytes of the value that begins here. They are valid until the next call. */
  async take(): Promise<Uint8Array> {
    await this.next();
    const scan = new ValueScan();
    for (;;) {
      const end = scan.go(this.#filled, this.#at);
      if (end !== null) {
        const bytes = this.#filled.subarray(this.#at, this.#at + end);
        this.#at += end;
        return bytes;
      }
      if (!(await this.#more())) throw notJson('It ends too early.');
    }
  }

  async #more(): Promise<boolean> {
    const { done, value: chunk } = await this.#chunks.next();
    if (done) return false;
    const rest = this.#filled.subarray(this.#at);
    const length = rest.length + chunk.length;
    if (length > mostBytes) throw notJson('A part is too long.');
    // A long part stays where it is, and is not copied with every chunk.
    const hasRoom = length <= this.#room.length;
    if (!hasRoom) this.#room = new Uint8Array(2 * length);
    if (!hasRoom || this.#at > 0) this.#room.set(rest);
    this.#room.set(chunk, rest.length);
    this.#filled = this.#room.subarray(0, length);
    this.#at = 0;
    return true;
  }
}

/** Looks for the end of one value while its bytes arrive. */
class ValueScan {
  /** Bytes of the value that were scanned. */
  #done = 0;
  #depth = 0;
  #inString = false;

  /** Returns the length of the value that begins at `start`, or null if it does not end yet. */
  go(bytes: Uint8Array, start: number): number | null {
    let at = start + this.#done;
    while (at < bytes.length) {
      if (this.#inString) {
        const end = endOfString(bytes, at, start);
        if (end === null) break;
        at = end;
        this.#inString = false;
        if (this.#depth === 0) return at - start;
        continue;
      }
      const byte = bytes[at];
      const isEnd = byte === comma || byte === colon || byte === closeObject || byte === closeList;
      // A number or a word ends where something else begins.
      if (this.#depth === 0 && (isEnd || (byte !== undefined && isSpace(byte)))) return at - start;
      at += 1;
      if (byte === quote) this.#inString = true;
      else if (byte === openObject || byte === openList) this.#depth += 1;
      else if (byte === closeObject || byte === closeList) {
        this.#depth -= 1;
        if (this.#depth === 0) return at - start;
      }
    }
    this.#done = at - start;
    return null;
  }
}

/** Returns the index behind the quote that ends the string around `from`; null if that quote has not come yet. */
function endOfString(bytes: Uint8Array, from: number, start: number): number | null {
  for (let end = bytes.indexOf(quote, from); end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let before = end - 1;
    while (before >= start && bytes[before] === backslash) before -= 1;
    if ((end - before) % 2 === 1) return end + 1;
  }
  return null;
}
