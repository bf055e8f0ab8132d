import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wellFormed } from './well-formed.ts';

test.each([
  ['"\\ud83d\\ude00"', '"\\ud83d\\ude00"'],
  ['"\\uD83D\\uDE00 😀 \\u00e9"', '"\\uD83D\\uDE00 😀 \\u00e9"'],
  ['"hi \\ud83d"', '"hi \ufffd"'],
  ['"\\ude00\\ud83d"', '"\ufffd\ufffd"'],
  ['"\\ud83d\\ud83d\\ude00"', '"\ufffd\\ud83d\\ude00"'],
  ['"\\ud83d\\n\\ude00"', '"\ufffd\\n\ufffd"'],
  ['"a\\u0000b"', '"a\ufffdb"'],
  ['"\\\\u0000 \\\\ud83d"', '"\\\\u0000 \\\\ud83d"'],
  ['"\\\\\\u0000"', '"\\\\\ufffd"'],
  ['{"\\udc00":["\\ud800"]}', '{"\ufffd":["\ufffd"]}'],
])('%s', (json, expected) => {
  expect(wellFormed(json)).toBe(expected);
});

test('it changes halves of pairs and NUL, and nothing else', () => {
  const unit = fc.constantFrom('a', '\\', '"', '\0', '\ud83d', '\ude00', '\ud800', 'é', '\n', 'u0000', '😀');
  fc.assert(
    fc.property(fc.array(unit), fc.boolean(), (units, isAscii) => {
      const text = units.join('');
      const escaped = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
      const json = JSON.stringify(text);
      const written = isAscii ? json.replace(/[^\x20-\x7e]/g, escaped) : json;
      expect(JSON.parse(wellFormed(written))).toBe(text.toWellFormed().replaceAll('\0', '\ufffd'));
    }),
    { numRuns: cases(2000) },
  );
});

test('a text of many escapes takes no longer than it is long', () => {
  const json = `"${'\\\\'.repeat(2_000_000)}${'\\u0000\\ud83d'.repeat(200_000)}"`;
  const start = performance.now();
  expect(wellFormed(json)).toHaveLength(4_000_002 + 400_000);
  expect(performance.now() - start).toBeLessThan(5000);
});
