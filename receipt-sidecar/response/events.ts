/**
 * Reads server-sent events out of a byte stream that may be split anywhere, as a browser does: lines end in LF, CR or
 * CRLF, a byte order mark at the start is none of the first line.
 *
 * Invariant: every byte is looked at and copied a bounded number of times, however a provider cuts its pieces, and what
 * is kept of an unfinished event is counted in `size`.
 */

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;
/** Bytes that a line counts for in `size` besides its own. */
const lineCost = 64;

export interface EventHandler {
  /**
   * An event with data: its `data:` lines joined. `isError`: by its `event:` line. `bytes`: the provider's, where they
   * are one plain line that `dataEvent` would write alike but for letters that it escapes; else null.
   */
  event(data: string, isError: boolean, bytes: Buffer | null): void;
  /** Takes a comment line, with its colon. */
  comment(line: string): void;
}

/** Calls the handler for each event and each comment, while `push` and `end` run. */
export class EventReader {
  readonly #handler: EventHandler;
  readonly #unfinished = new GrowingBytes();
  #data: string[] = [];
  #dataCost = 0;
  #isError = false;
  #isFirstLine = true;
  /** True after a CR, so that a LF that follows belongs to it. */
  #afterCr = false;
  #isOver = false;
  /** Where the only line of data of the event lies in the piece at hand; -1: elsewhere, or not as we would write it. */
  #plainFrom = -1;
  #plainEnd = -1;
  /** How many bytes came before the piece at hand, before the unfinished line, and before the data of the last event. */
  #offset = 0;
  #lineAt = 0;
  eventAt = 0;
  /** Whether there were lines without data; then the client can be told that somebody is still there. */
  sawOther = false;

  constructor(handler: EventHandler) {
    this.#handler = handler;
  }

  /** How many bytes the unfinished event costs. */
  get size(): number {
    return this.#unfinished.length + this.#dataCost;
  }

  /** How many bytes came before the data of the unfinished event. */
  get unfinishedAt(): number {
    return this.#data.length > 0 ? this.eventAt : this.#lineAt;
  }

  push(bytes: Buffer): void {
    if (this.#isOver || bytes.length === 0) return;
    this.#plainFrom = -1;
    let from = this.#afterCr && bytes[0] === lineFeed ? 1 : 0;
    this.#afterCr = false;
    let lf = bytes.indexOf(lineFeed, from);
    let cr = bytes.indexOf(carriageReturn, from);
    while (lf !== -1 || cr !== -1) {
      const isLf = cr === -1 || (lf !== -1 && lf < cr);
      const end = isLf ? lf : cr;
      if (this.#unfinished.length === 0) this.#lineAt = this.#offset + from;
      this.#endLine(bytes, from, end, isLf);
      if (this.#isOver) return;
      from = end + 1;
      if (!isLf) {
        if (from === bytes.length) this.#afterCr = true;
        else if (bytes[from] === lineFeed) from += 1;
        cr = bytes.indexOf(carriageReturn, from);
      }
      if (lf !== -1 && lf < from) lf = bytes[from] === lineFeed ? from : bytes.indexOf(lineFeed, from);
    }
    if (from < bytes.length) {
      if (this.#unfinished.length === 0) this.#lineAt = this.#offset + from;
      this.#unfinished.add(bytes.subarray(from));
    }
    this.#offset += bytes.length;
  }

  /** Ends the stream. A provider can leave out the last line end and the blank line. */
  end(): void {
    if (this.#isOver) return;
    if (this.#unfinished.length > 0) this.#endLine(Buffer.alloc(0), 0, 0, false);
    this.#dispatch(null);
    this.stop();
  }

  /** Ignores whatever comes from now on. */
  stop(): void {
    this.#isOver = true;
    this.#unfinished.take();
    this.#data = [];
    this.#dataCost = 0;
  }

  #endLine(bytes: Buffer, from: number, end: number, isLf: boolean): void {
    if (this.#unfinished.length === 0) return this.#line(bytes, from, end, isLf);
    if (end > from) this.#unfinished.add(bytes.subarray(from, end));
    const line = this.#unfinished.take();
    this.#line(line, 0, line.length, false);
  }

  #line(bytes: Buffer, from: number, end: number, isLf: boolean): void {
    let start = from;
    if (this.#isFirstLine) {
      this.#isFirstLine = false;
      if (bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf) start += 3;
    }
    if (start === end) {
      const isPlain = isLf && this.#plainFrom !== -1 && this.#plainEnd + 1 === from;
      return this.#dispatch(isPlain ? bytes.subarray(this.#plainFrom, end + 1) : null);
    }
    if (isDataLine(bytes, start, end)) {
      const hasSpace = bytes[start + 5] === 0x20;
      const isOnly = this.#data.length === 0;
      if (isOnly) this.eventAt = this.#lineAt;
      this.#plainFrom = isLf && hasSpace && isOnly ? start : -1;
      this.#plainEnd = end;
      this.#data.push(bytes.toString('utf8', Math.min(end, start + (hasSpace ? 6 : 5)), end));
      this.#dataCost += end - start + lineCost;
      return;
    }
    this.sawOther = true;
    const line = bytes.toString('utf8', start, end);
    if (bytes[start] === colon) this.#handler.comment(line);
    else if (/^event(?::|$)/.test(line)) this.#isError = line.slice(6).trim() === 'error';
  }

  /** At a blank line. */
  #dispatch(bytes: Buffer | null): void {
    const isError = this.#isError;
    this.#isError = false;
    this.#plainFrom = -1;
    if (this.#data.length === 0) return;
    const data = this.#data.length === 1 ? (this.#data[0] as string) : this.#data.join('\n');
    this.#data = [];
    this.#dataCost = 0;
    // An event whose data is empty is none, as in a browser.
    if (data === '') this.sawOther = true;
    else this.#handler.event(data, isError, bytes);
  }
}

/** `data:` with a value, or `data` alone. */
function isDataLine(bytes: Buffer, at: number, end: number): boolean {
  if (bytes[at] !== 0x64 || bytes[at + 1] !== 0x61 || bytes[at + 2] !== 0x74 || bytes[at + 3] !== 0x61) return false;
  return end - at === 4 || (end - at > 4 && bytes[at + 4] === colon);
}

/** Bytes put together in one place: kept as they came, pieces of one byte would each hold a buffer of their own. */
class GrowingBytes {
  #buffer: Buffer = Buffer.alloc(0);
  length = 0;

  add(bytes: Buffer): void {
    const needed = this.length + bytes.length;
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(1024, needed, this.#buffer.length * 2));
      this.#buffer.copy(larger, 0, 0, this.length);
      this.#buffer = larger;
    }
    bytes.copy(this.#buffer, this.length);
    this.length = needed;
  }

  /** Takes out all bytes. */
  take(): Buffer {
    const all = this.#buffer.subarray(0, this.length);
    this.#buffer = Buffer.alloc(0);
    this.length = 0;
    return all;
  }
}

/** What some reader takes for the end of a line or for a mark to drop. In JSON they are inside of strings only. */
const misread = ['\u0085', '\u2028', '\u2029', '\ufeff'] as const;
/** What stands for bytes that were none of UTF-8. */
const replaced = '\ufffd';
const isMisread = (data: string): boolean => misread.some((letter) => data.includes(letter));

/** Whether every reader understands the bytes of an event, `data: ` and this data in one line, as we do. */
export function isPlain(data: string, bytes: Buffer): boolean {
  if (data.includes(replaced)) return false;
  const isAscii = bytes.length === data.length + 'data: \n\n'.length;
  return isAscii || !isMisread(data);
}

/** Makes an event with this JSON as its data, in one line for every reader, whatever it takes for a line end. */
export function dataEvent(json: string): Buffer {
  const line = json.includes('\n') ? json.replaceAll('\n', ' ') : json;
  const bytes = Buffer.from(`data: ${line}\n\n`);
  return isMisread(line) ? escaped(bytes) : bytes;
}

/** Escapes the letters that are misread. It goes by bytes, since a text full of them would take many times longer. */
function escaped(bytes: Buffer): Buffer {
  const out = Buffer.allocUnsafe(bytes.length * 3);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const first = bytes[at] as number;
    const written = first < 0xc2 ? undefined : escapeAt(bytes, at, first);
    if (written === undefined) out[length++] = first;
    else {
      for (let index = 0; index < 6; index++) out[length++] = written.charCodeAt(index);
      at += first === 0xc2 ? 1 : 2;
    }
  }
  return out.subarray(0, length);
}

/** Of `misread`, by their bytes in UTF-8. */
function escapeAt(bytes: Buffer, at: number, first: number): string | undefined {
  if (first === 0xc2) return bytes[at + 1] === 0x85 ? '\\u0085' : undefined;
  if (first === 0xef) return bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf ? '\\ufeff' : undefined;
  if (first !== 0xe2 || bytes[at + 1] !== 0x80) return undefined;
  return bytes[at + 2] === 0xa8 ? '\\u2028' : bytes[at + 2] === 0xa9 ? '\\u2029' : undefined;
}

export const doneEvent: Buffer = Buffer.from('data: [DONE]\n\n');
/** A comment without a word, which keeps a connection open. */
export const keepAlive: Buffer = Buffer.from(':\n\n');
