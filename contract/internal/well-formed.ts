/**
 * Makes the text of JSON well-formed: NUL and half of a surrogate pair, which only an escape can contain, become U+FFFD.
 *
 * Some parsers and stores refuse such text, and some of those who write it deliver it first: a conversation that holds it could never be
 * sent back.
 */

/**
 * Finds nothing in text that is well-formed, but for escaped backslashes in front of a `u`: whole pairs, of which there may be millions, are passed
 * over quickly.
 */
const doubtful =
  /\\u0000|\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]|\\\\u/;
/** Finds escapes that may be NUL or half of a pair. */
const suspect = /\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})/g;
const lowHalf = /\\u[dD][c-fC-F][0-9a-fA-F]{2}/y;
const lengthOfEscape = 6;
const backslash = 0x5c;
const replacement = '\ufffd';

/** `json` has to be decoded from UTF-8. It is returned as it is if there is nothing to replace. */
export function wellFormed(json: string): string {
  if (!json.includes('\\u') || !doubtful.test(json)) return json;
  let mended = '';
  let done = 0;
  suspect.lastIndex = 0;
  for (let found = suspect.exec(json); found !== null; found = suspect.exec(json)) {
    const at = found.index;
    if (isEscaped(json, at)) continue;
    if (isHighHalf(json, at)) {
      lowHalf.lastIndex = at + lengthOfEscape;
      if (lowHalf.test(json)) {
        suspect.lastIndex = at + 2 * lengthOfEscape;
        continue;
      }
    }
    mended += json.slice(done, at) + replacement;
    done = at + lengthOfEscape;
  }
  return done === 0 ? json : mended + json.slice(done);
}

/** Whether the escape at `at` is the first half of a pair. */
const isHighHalf = (json: string, at: number): boolean => /[dD][89abAB]/.test(json.slice(at + 2, at + 4));

/** Whether the backslash at `at` is itself escaped. */
export function isEscaped(json: string, at: number): boolean {
  let slashes = 0;
  while (json.charCodeAt(at - 1 - slashes) === backslash) slashes++;
  return slashes % 2 === 1;
}
