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

/** Splits off the whole events; the rest is the beginning of the next one. */
export function splitEvents(bytes: Buffer): { events: Buffer[]; rest: Buffer } {
  const events: Buffer[] = [];
  let from = 0;
  for (let end = endOfEvent(bytes, from); end !== -1; end = endOfEvent(bytes, from)) {
    events.push(bytes.subarray(from, end));
    from = end;
  }
  return { events, rest: bytes.subarray(from) };
}

/** The data of an event: its `data:` lines joined; null if it has none (a comment, say). */
export function eventData(event: string): string | null {
  if (event.startsWith('data: ') && event.indexOf('\n') >= event.length - 2) return event.slice(6).trimEnd();
  const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  return lines.length === 0 ? null : lines.map((line) => line.slice(line.startsWith('data: ') ? 6 : 5)).join('\n');
}

export const dataEvent = (data: string): Buffer => Buffer.from(`data: ${data}\n\n`);
