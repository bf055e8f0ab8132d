/** Cuts server-sent events out of a byte stream that may be split anywhere. */

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Index behind the blank line that ends the event starting at `from`, or -1 if it is not whole yet. */
function endOfEvent(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(lineFeed, from); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) {
    if (bytes[at + 1] === lineFeed) return at + 2;
    if (bytes[at + 1] === carriageReturn && bytes[at + 2] === lineFeed) return at + 3;
  }
  return -1;
}

/** Gathers bytes and gives out whole events. */
export class EventSplitter {
  /** The beginning of the next event: an event without a line end in it is only joined when that comes. */
  #parts: Buffer[] = [];
  /** Bytes of the unfinished event. */
  size = 0;

  push(bytes: Buffer): Buffer[] {
    this.#parts.push(bytes);
    this.size += bytes.length;
    if (!bytes.includes(lineFeed)) return [];
    const whole = this.#parts.length === 1 ? bytes : Buffer.concat(this.#parts);
    const events: Buffer[] = [];
    // An end can lie across two pieces: three bytes of what came before belong to the search.
    let search = Math.max(0, whole.length - bytes.length - 3);
    let from = 0;
    for (let end = endOfEvent(whole, search); end !== -1; end = endOfEvent(whole, search)) {
      events.push(whole.subarray(from, end));
      from = end;
      search = end;
    }
    this.#parts = from === whole.length ? [] : [whole.subarray(from)];
    this.size = whole.length - from;
    return events;
  }

  /** What is left, and nothing after it. */
  end(): Buffer {
    const rest = Buffer.concat(this.#parts);
    this.#parts = [];
    this.size = 0;
    return rest;
  }
}

/** The data of an event: its `data:` lines joined; null if it has none (a comment, say). */
export function eventData(event: string): string | null {
  if (event.startsWith('data: ') && event.indexOf('\n') >= event.length - 2) return event.slice(6).trimEnd();
  const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  return lines.length === 0 ? null : lines.map((line) => line.slice(line.startsWith('data: ') ? 6 : 5)).join('\n');
}

/** The comment lines of an event, each with its colon. */
export function eventComments(event: string): string[] {
  if (!event.startsWith(':') && !event.includes('\n:')) return [];
  return event.split(/\r?\n/).filter((line) => line.startsWith(':'));
}

export const dataEvent = (data: string): Buffer => Buffer.from(`data: ${data}\n\n`);
