/** Writes server-sent events that every reader understands alike. */

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

/**
 * Makes an event with this JSON as its data, in one line for every reader, whatever it takes for a line end. `name` is
 * that of its `event:` line; null: it has none.
 */
export function dataEvent(json: string, name: string | null = null): Buffer {
  const line = json.includes('\n') ? json.replaceAll('\n', ' ') : json;
  const bytes = Buffer.from(`${name === null ? '' : `event: ${name}\n`}data: ${line}\n\n`);
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

/** A comment without a word, which keeps a connection open. */
export const keepAlive: Buffer = Buffer.from(':\n\n');
