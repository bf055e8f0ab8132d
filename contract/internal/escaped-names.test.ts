import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from './escaped-names.ts';

/** JSON as it was written, blanks and all: numbers and names stay what they are. */
const names = ['"', '\\', '\n', '\t', 'a"', 'a\\', 'a\n', 'a', '', '1', '__proto__', 'é"', '\ud800', ':', '":'];
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(0, null, '"', '\\', 'a\\":', '{"\\n":1}'),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie('json'), { maxKeys: 5, noNullPrototype: true }),
  ),
}));

test('names are read as what they are, whatever JSON.parse has read before', () => {
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 2), (value, blanks) => {
      JSON.parse('{"a\\\\":1,"\\\\":2}');
      expect(JSON.stringify(parseJson(JSON.stringify(value, null, blanks)))).toBe(JSON.stringify(value));
    }),
    { numRuns: cases(20_000, 1500) },
  );
});

test('the last of equal names counts, as for JSON.parse, and what is no JSON is none', () => {
  expect(parseJson('{"a":1,"\\u0061":2,"\\n":3,"\\n":4}')).toEqual({ a: 2, '\n': 4 });
  expect(parseJson('"\\n"')).toBe('\n');
  for (const text of ['{"\\x":1}', '{"\\":1}', '{"\\n"}', '{"\\n":}', '"\\n":1', ''])
    expect(() => parseJson(text)).toThrow(SyntaxError);
});
