/** Writes server-sent events that every reader understands alike. */

/** Characters that some reader takes for a line end or a byte order mark. In JSON they occur only inside strings. */
const misread = ['\u0085', '\u2028', '\u2029', '\ufeff'] as const;
/** The decoder's replacement for invalid UTF-8. */
const replaced = '\ufffd';
const isMisread = (data: string): boolean => misread.some((letter) => data.includes(letter));

/** Whether every reader understands the bytes of an event, one line of `data: ` and this data, as we do. */
export function isPlain(data: string, bytes: Buffer): boolean {
  if (data.includes(replaced)) return false;
  const isAscii = bytes.length === data.length + 'data: \n\n'.length;
  return isAscii || !isMisread(data);
}

/**
 * Makes an event with this JSON as its data, in a single line whatever a reader takes for a line end. `name`: that of the `event:` line;
 * null: there is none.
 */
export function dataEvent(json: string, name: string | null = null): Buffer {
  const line = json.includes('\n') ? json.replaceAll('\n', ' ') : json;
  const bytes = Buffer.from(`${name === null ? '' : `event: ${name}\n`}data: ${line}\n\n`);
  return isMisread(line) ? escaped(bytes) : bytes;
}

/** Puts the line with the name in front of the data line of an event. */
export const named = (bytes: Buffer, name: string | null): Buffer =>
  name === null ? bytes : Buffer.concat([Buffer.from(`event: ${name}\n`), bytes]);

/** Escapes the characters that are misread. It works on bytes, since a string full of them would take many times longer. */
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

/** Returns the escape of a `misread` character, recognised by its UTF-8 bytes. */
function escapeAt(bytes: Buffer, at: number, first: number): string | undefined {
  if (first === 0xc2) return bytes[at + 1] === 0x85 ? '\\u0085' : undefined;
  if (first === 0xef) return bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf ? '\\ufeff' : undefined;
  if (first !== 0xe2 || bytes[at + 1] !== 0x80) return undefined;
  return bytes[at + 2] === 0xa8 ? '\\u2028' : bytes[at + 2] === 0xa9 ? '\\u2029' : undefined;
}

/** An empty comment, which keeps a connection open. */
export const keepAlive: Buffer = Buffer.from(':\n\n');
