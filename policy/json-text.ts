/**
 * Unescapes JSON inside a string, such as the arguments of a tool call, since a model reads the unescaped text.
 *
 * Invariant: it does not parse, so deeply nested, long or invalid JSON costs no more than its length.
 */
const backslash = 0x5c;
/** `\u` and four digits. */
const escapeLength = 6;
const letterU = 0x75;
const named = new Map(['b\b', 'f\f', 'n\n', 'r\r', 't\t'].map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)]));
const fourDigits = /^[0-9a-f]{4}$/i;

/** Returns the text without escapes, or an empty text if it has none. Removes NUL, which separates texts. */
export function jsonUnescaped(text: string): string {
  if (!text.includes('\\')) return '';
  const units = new Uint16Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    let unit = text.charCodeAt(at);
    if (unit === backslash && at + 1 < text.length) {
      const next = text.charCodeAt(at + 1);
      const digits = next === letterU ? text.slice(at + 2, at + escapeLength) : '';
      const isNumbered = fourDigits.test(digits);
      unit = isNumbered ? Number.parseInt(digits, 16) : (named.get(next) ?? next);
      at += isNumbered ? escapeLength - 1 : 1;
    }
    if (unit !== 0) units[length++] = unit;
  }
  return Buffer.from(units.buffer, 0, 2 * length).toString('utf16le');
}
