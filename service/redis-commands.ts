/** Encodes commands for Redis in RESP: an array of strings with their lengths in bytes. */

/** Strings are sent as UTF-8. */
export type Command = readonly (string | Buffer)[];

/** Returns Latin-1, one character for each byte, as in replies. */
export function textOf(command: Command): string {
  let text = `*${command.length}\r\n`;
  for (const part of command) {
    const bytes = bytesOf(part);
    text += `$${bytes.length}\r\n${bytes}\r\n`;
  }
  return text;
}

function bytesOf(part: string | Buffer): string {
  if (typeof part !== 'string') return part.toString('latin1');
  return Buffer.byteLength(part) === part.length ? part : Buffer.from(part).toString('latin1');
}
