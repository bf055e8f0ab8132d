/**
 * Makes a text of a pack safe for a terminal or a page: control characters, and characters that change the direction of a line, are written as
 * escapes (`\u{202e}`).
 */
export const harmless = (line: string): string =>
  line.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (each) => `\\u{${each.codePointAt(0)?.toString(16)}}`);
