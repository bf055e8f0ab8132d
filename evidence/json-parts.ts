/**
 * Reads JSON of any length part by part: the members of some objects and the items of their lists come one after the other, as
 * the bytes that they are written in.
 *
 * Invariants: it holds one part at a time, of at most `mostBytes`. It finds where parts begin and end, and members that are
 * there twice; whether a part is JSON is for whoever parses it. Of our own, because the digest of a part is over its bytes, and
 * readers that give tokens take minutes for what this reads in seconds.
 */

export interface JsonPart {
  /** The names of the members that lead to it, with a stroke between; that of a list for each of its items. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

export class JsonPartsError extends Error {}

/** No part of a pack is nearly as long. */
const mostBytes = 64 * 1024 * 1024;

const char = (text: string): number => text.charCodeAt(0);
const [quote, backslash, comma, colon] = [char('"'), char('\\'), char(','), char(':')];
const [openObject, closeObject, openList, closeList] = [char('{'), char('}'), char('['), char(']')];
const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** `isSplit`: whether the value at a path is given in parts, if it is an object or a list. The whole text is at `''`. */
export async function* jsonParts(
  chunks: AsyncIterable<Uint8Array>,
  isSplit: (path: string) => boolean,
): AsyncGenerator<JsonPart> {
  const reader = new Reader(chunks);
  yield* value('', reader, isSplit);
  if ((await reader.next()) !== null) throw new JsonPartsError('There is something behind the end of the JSON.');
}

async function* value(path: string, reader: Reader, isSplit: (path: string) => boolean): AsyncGenerator<JsonPart> {
  const first = await reader.next();
  if (isSplit(path) && first === openObject) yield* members(path, reader, isSplit);
  else if (isSplit(path) && first === openList) yield* items(path, reader);
  else yield { path, bytes: await reader.take() };
}

async function* members(path: string, reader: Reader, isSplit: (path: string) => boolean): AsyncGenerator<JsonPart> {
  const seen = new Set<string>();
  for await (const _ of separated(reader, closeObject)) {
    const name = nameIn(await reader.take());
    if (seen.has(name)) throw new JsonPartsError(`The member "${name}" is there twice.`);
    seen.add(name);
    if ((await reader.next()) !== colon) throw new JsonPartsError(`The member "${name}" has no value.`);
    reader.skip();
    yield* value(path === '' ? name : `${path}/${name}`, reader, isSplit);
  }
}

async function* items(path: string, reader: Reader): AsyncGenerator<JsonPart> {
  for await (const _ of separated(reader, closeList)) yield { path, bytes: await reader.take() };
}

/** Stops in front of each thing between the bracket at which the reader is and the one that ends it. */
async function* separated(reader: Reader, close: number): AsyncGenerator<void> {
  reader.skip();
  if ((await reader.next()) === close) return reader.skip();
  for (;;) {
    yield;
    const end = await reader.next();
    if (end !== comma && end !== close) throw new JsonPartsError('Something between two parts is no comma.');
    reader.skip();
    if (end === close) return;
  }
}

// Keeps a byte order mark, which is no JSON.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
/** What is no UTF-8 gives other bytes, and so another digest. */
export const textIn = (bytes: Uint8Array): string => decoder.decode(bytes);

function nameIn(bytes: Uint8Array): string {
  try {
    const name: unknown = JSON.parse(textIn(bytes));
    if (typeof name === 'string') return name;
  } catch {
    // Told below.
  }
  throw new JsonPartsError('A member has no name.');
}

class Reader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #room = new Uint8Array(0);
  /** What has come and is not given away yet, from `#at` on: the beginning of the room. */
  #held = this.#room;
  #at = 0;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next byte that is no space, without going on; null at the end. */
  async next(): Promise<number | null> {
    for (;;) {
      const byte = this.#held[this.#at];
      if (byte === undefined) {
        if (!(await this.#more())) return null;
      } else if (isSpace(byte)) this.#at += 1;
      else return byte;
    }
  }

  skip(): void {
    this.#at += 1;
  }

  /** The bytes of the value that begins here. They are good until the next call. */
  async take(): Promise<Uint8Array> {
    await this.next();
    const scan = new ValueScan();
    for (;;) {
      const end = scan.go(this.#held, this.#at);
      if (end !== null) {
        const bytes = this.#held.subarray(this.#at, this.#at + end);
        this.#at += end;
        return bytes;
      }
      if (!(await this.#more())) throw new JsonPartsError('The JSON ends in the midst.');
    }
  }

  async #more(): Promise<boolean> {
    const { done, value: chunk } = await this.#chunks.next();
    if (done) return false;
    const rest = this.#held.subarray(this.#at);
    const length = rest.length + chunk.length;
    if (length > mostBytes) throw new JsonPartsError('A part is too long.');
    // A long part stays where it is, and is not copied with every chunk.
    const hasRoom = length <= this.#room.length;
    if (!hasRoom) this.#room = new Uint8Array(2 * length);
    if (!hasRoom || this.#at > 0) this.#room.set(rest);
    this.#room.set(chunk, rest.length);
    this.#held = this.#room.subarray(0, length);
    this.#at = 0;
    return true;
  }
}

/** Looks for the end of one value, in bytes of which more can come. */
class ValueScan {
  /** Bytes of the value that it has looked at. */
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

/** The place behind the quote that ends the string in which `from` is; null if it is not there yet. */
function endOfString(bytes: Uint8Array, from: number, start: number): number | null {
  for (let end = bytes.indexOf(quote, from); end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let before = end - 1;
    while (before >= start && bytes[before] === backslash) before -= 1;
    if ((end - before) % 2 === 1) return end + 1;
  }
  return null;
}
