/**
 * Reads server-sent events from a byte stream that may be split anywhere, as a browser does: lines end in LF, CR or CRLF, and a byte order mark
 * at the start does not belong to the first line.
 *
 * Invariant: every byte is scanned and copied a bounded number of times, however a provider splits its pieces, and `size` counts the bytes
 * that are kept of an unfinished event.
 */

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;
/** Added to the bytes of each line in `size`. */
const lineCost = 64;
const nothing: Buffer = Buffer.alloc(0);

export interface EventHandler {
  /** Handles an event by its bytes, see `event`, and returns true; or returns false to leave it to `event`. */
  known(bytes: Buffer, name: string | null): boolean;
  /**
   * Handles an event: its `data:` lines joined, and the name of its `event:` line, if it has one. `bytes`: the provider's bytes if they are
   * one plain line as `dataEvent` would write it, apart from characters that it escapes; otherwise null.
   */
  event(data: string, name: string | null, bytes: Buffer | null): void;
  /** Whether the data of one line are complete, so that another line of data in front of a blank line begins another event. */
  isWhole(data: string): boolean;
  /** Handles a comment line, with its colon. */
  comment(line: string): void;
}

/** Calls the handler for each event and each comment, during `push` and `end`. */
export class EventReader {
  readonly #handler: EventHandler;
  readonly #unfinished = new GrowingBytes();
  #data: string[] = [];
  #dataCost = 0;
  #name: string | null = null;
  /** The last line that had a name, and that name. */
  #nameLine = nothing;
  #lastName = '';
  #isFirstLine = true;
  /** True after a CR, so that a LF that follows belongs to it. */
  #afterCr = false;
  #isOver = false;
  /** The position in the current piece of the event's only data line, not decoded yet; -1: it is elsewhere, or not as we would write it. */
  #plainFrom = -1;
  #plainEnd = -1;
  #piece = nothing;
  // The number of bytes before the current piece, before the unfinished line, and before the data of the last event.
  #offset = 0;
  #lineAt = 0;
  eventAt = 0;
  /** Whether there were lines without data, which show that the provider is still active. */
  sawOther = false;

  constructor(handler: EventHandler) {
    this.#handler = handler;
  }

  /** The cost of the unfinished event in bytes. */
  get size(): number {
    return this.#unfinished.length + this.#dataCost;
  }

  /** The offset of the data of the unfinished event. */
  get unfinishedAt(): number {
    return this.#hasData ? this.eventAt : this.#lineAt;
  }

  push(bytes: Buffer): void {
    if (this.#isOver || bytes.length === 0) return;
    this.#piece = bytes;
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
    this.#decodePlain();
    this.#piece = nothing;
    this.#offset += bytes.length;
  }

  get #hasData(): boolean {
    return this.#plainFrom !== -1 || this.#data.length > 0;
  }

  #decodePlain(): void {
    if (this.#plainFrom === -1) return;
    this.#data.push(this.#piece.toString('utf8', Math.min(this.#plainEnd, this.#plainFrom + 6), this.#plainEnd));
    this.#plainFrom = -1;
  }

  /** Ends the stream. A provider may omit the last line end and the blank line. */
  end(): void {
    if (this.#isOver) return;
    if (this.#unfinished.length > 0) this.#endLine(Buffer.alloc(0), 0, 0, false);
    this.#dispatch(false);
    this.stop();
  }

  /** Ignores all further bytes. */
  stop(): void {
    this.#isOver = true;
    this.#unfinished.take();
    this.#piece = nothing;
    this.#plainFrom = -1;
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
      return this.#dispatch(isLf && this.#plainFrom !== -1 && this.#plainEnd + 1 === from);
    }
    if (isDataLine(bytes, start, end)) {
      if (this.#hasData && beginsValue(bytes, start, end)) this.#endWhole();
      if (this.#isOver) return;
      const hasSpace = bytes[start + 5] === 0x20;
      const isOnly = !this.#hasData;
      if (isOnly) this.eventAt = this.#lineAt;
      this.#dataCost += end - start + lineCost;
      this.#decodePlain();
      if (isLf && hasSpace && isOnly) {
        this.#plainFrom = start;
        this.#plainEnd = end;
      } else this.#data.push(bytes.toString('utf8', Math.min(end, start + (hasSpace ? 6 : 5)), end));
      return;
    }
    this.sawOther = true;
    if (isSame(this.#nameLine, bytes, start, end)) {
      this.#name = this.#lastName;
      return;
    }
    const line = bytes.toString('utf8', start, end);
    if (bytes[start] === colon) this.#handler.comment(line);
    else if (/^event(?::|$)/.test(line)) this.#takeName(line, bytes.subarray(start, end));
  }

  /** Nearly all events of a stream have the same name. */
  #takeName(line: string, bytes: Buffer): void {
    this.#name = nameIn(line);
    if (this.#name === null || bytes.length > longestNameLine) return;
    this.#lastName = this.#name;
    this.#nameLine = Buffer.from(bytes);
  }

  /** Ends an event whose blank line is missing. Only its first line is looked at, so that no data are read again and again. */
  #endWhole(): void {
    this.#decodePlain();
    const [data = '', ...more] = this.#data;
    if (more.length === 0 && this.#handler.isWhole(data)) this.#dispatch(false);
  }

  /** Handles a blank line. `isPlain`: it follows the only data line directly, as we would write it. */
  #dispatch(isPlain: boolean): void {
    const name = this.#name;
    this.#name = null;
    const bytes = isPlain ? this.#piece.subarray(this.#plainFrom, this.#plainEnd + 2) : null;
    if (bytes !== null && this.#handler.known(bytes, name)) {
      this.#plainFrom = -1;
      this.#dataCost = 0;
      return;
    }
    this.#decodePlain();
    if (this.#data.length === 0) return;
    const data = this.#data.length === 1 ? (this.#data[0] as string) : this.#data.join('\n');
    this.#data = [];
    this.#dataCost = 0;
    // An event with empty data is ignored, as in a browser; some servers write null.
    if (data === '' || isNull(data)) this.sawOther = true;
    else this.#handler.event(data, name, bytes);
  }
}

/** The longest name that is kept, in characters; APIs use a few words. */
const longestName = 64;
/** The longest line that is kept to know it again, in bytes: blanks around a name cost memory. */
const longestNameLine = 128;

/** Returns the name in an `event:` line; null if it is empty or too long. */
function nameIn(line: string): string | null {
  const name = line.slice(6).trim();
  return name === '' || name.length > longestName ? null : name;
}

function isSame(line: Buffer, bytes: Buffer, from: number, end: number): boolean {
  if (line.length !== end - from) return false;
  for (let at = 0; at < line.length; at += 1) if (line[at] !== bytes[from + at]) return false;
  return true;
}

const isNull = (data: string): boolean => data.length <= 16 && data.trim() === 'null';

/** Whether the value of a line of data begins as an object or a list. */
function beginsValue(bytes: Buffer, from: number, end: number): boolean {
  const at = bytes[from + 5] === 0x20 ? from + 6 : from + 5;
  return at < end && (bytes[at] === 0x7b || bytes[at] === 0x5b);
}

/** Accepts `data:` with a value, or just `data`. */
function isDataLine(bytes: Buffer, at: number, end: number): boolean {
  if (bytes[at] !== 0x64 || bytes[at + 1] !== 0x61 || bytes[at + 2] !== 0x74 || bytes[at + 3] !== 0x61) return false;
  return end - at === 4 || (end - at > 4 && bytes[at + 4] === colon);
}

/** Joins bytes in one buffer: kept as they came, pieces of one byte would each occupy a buffer of their own. */
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

  /** Removes and returns all bytes. */
  take(): Buffer {
    const all = this.#buffer.subarray(0, this.length);
    this.#buffer = Buffer.alloc(0);
    this.length = 0;
    return all;
  }
}
