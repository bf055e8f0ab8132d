/**
 * Extracts text from media: text files as data URLs, and encoded bytes that turn out to be text.
 *
 * Invariant: media declared as text are read even if malformed, so that a bad byte hides nothing. Other media are read if they begin like
 * text, which images, sound and most documents do not.
 */
import { elementAt } from '@gw/contract/internal/defined';

/** `data:`, the type with its parameters, and optionally `;base64`. */
const dataUrl = /^data:([^,]{0,200}?)(;base64)?,/i;
/** Types that contain text; a missing type means plain text. */
const wordy =
  /^(?:;|$|text\/|application\/(?:[\w.+-]+\+)?(?:json|xml|yaml|x-yaml|x-ndjson|javascript|rtf|sql|x-sh|x-tex)\b|image\/svg)/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: no text contains them.
const noText = /[\x01-\x08\x0e-\x1a\x1c-\x1f\ufffd]/;
/** Characters of base64 that are decoded to recognise text. */
const sniffed = 64;

export interface Medium {
  /** The value in the request, without encoded bytes. */
  readonly text: string;
  /** The decoded text; empty if the bytes are not text. */
  readonly words: string;
}

/** `isBytes`: the field contains base64 without a data URL. Returns null if `value` is plain text. */
export function mediumOf(value: string, isBytes: boolean): Medium | null {
  const found = dataUrl.exec(value);
  if (!found) return isBytes ? encoded('', value, false) : null;
  const [head, type = '', base64] = found;
  const content = value.slice(head.length);
  if (base64 === undefined) return { text: value, words: percentDecoded(content) };
  return encoded(head, content, wordy.test(type));
}

const onlyBase64 = /^[A-Za-z0-9+/]*={0,2}$/;

function encoded(head: string, content: string, isWordy: boolean): Medium {
  const begins = decoded(Buffer.from(content.slice(0, sniffed), 'base64')).replace(/\ufffd{1,3}$/, '');
  const isText = isWordy || (begins !== '' && !noText.test(begins));
  return {
    // Content that is not valid base64 counts as text.
    text: onlyBase64.test(content) ? head : head + content,
    words: isText ? decoded(Buffer.from(content, 'base64')) : '',
  };
}

/** Removes NUL, which separates the texts of a request. */
function decoded(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes).replaceAll('\0', '');
}

const percent = 0x25;
/** Value of a hexadecimal digit by its character code; 16 for all others. */
const digits = Array.from({ length: 256 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(value) ? 16 : value;
});
const digit = (code: number | undefined): number => (code === undefined ? 16 : elementAt(digits, code));

/** Decodes bytes in one pass, so that a bad byte hides no other and millions of them are cheap. */
function percentDecoded(text: string): string {
  const bytes = Buffer.from(text);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const [high, low] = bytes[at] === percent ? [digit(bytes[at + 1]), digit(bytes[at + 2])] : [16, 16];
    const isEncoded = high < 16 && low < 16;
    bytes[length++] = isEncoded ? high * 16 + low : bytes.readUInt8(at);
    if (isEncoded) at += 2;
  }
  return decoded(bytes.subarray(0, length));
}
