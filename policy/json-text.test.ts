import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonUnescaped } from './json-text.ts';

test('what a JSON string says is read, however it is escaped', () => {
  const escaped = (text: string): string =>
    [...text]
      .flatMap((letter) => letter.split(''))
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
      const read = text.replaceAll('\0', '');
      expect(jsonUnescaped(escaped(text))).toBe(read);
      const written = JSON.stringify({ q: `\n${text}` });
      expect(jsonUnescaped(written)).toBe(`{"q":"\n${read}"}`);
    }),
  );
});

test('what is no escape stays, and a text without any is not read twice', () => {
  expect(jsonUnescaped('{"q":"plain"}')).toBe('');
  expect(jsonUnescaped('C:\\d \\u12g4 \\')).toBe('C:d u12g4 \\');
});
