/**
 * What a pack says, for a terminal or a page: control characters, and those that would turn the direction of a line, stand there as
 * what they are (`\u{202e}`).
 */
export const harmless = (line: string): string =>
  line.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (each) => `\\u{${(each.codePointAt(0) ?? 0).toString(16)}}`);
