import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sameJson, sha256Of, sortedText } from '../documents/digest.ts';

it('a hash is the SHA-256 of the UTF-8 bytes of the text, as Node has it', () => {
  const texts = fc.string({ unit: 'grapheme', maxLength: 100 });
  fc.assert(
    fc.property(texts, (text) => sha256Of(text) === `sha256:${createHash('sha256').update(text).digest('hex')}`),
    { numRuns: cases(1000) },
  );
  // Half of a surrogate pair is no character, and both take the same in its place.
  expect(sha256Of('\ud800')).toBe(sha256Of('\ufffd'));
});

it('the same JSON is what Node calls deeply and strictly equal', () => {
  // Few values, so that many pairs are equal.
  const leaf = fc.constantFrom(0, 1, null, '', 'a', true, Number.NaN, undefined);
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      fc.array(tie('json'), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('a', '0'), tie('json'), { maxKeys: 2, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(json, json, (a, b) => {
      expect(sameJson(a, b)).toBe(isDeepStrictEqual(a, b));
      expect(sameJson(a, structuredClone(a))).toBe(true);
    }),
    { numRuns: cases(10_000) },
  );
});

it('the text of JSON has its keys in the order of their code units, at each depth, and parses as what it is of', () => {
  // None with an escape: JSON.parse of Node 24, by which the text is looked at, may take those for others.
  const keys = fc.constantFrom('', 'a', 'aa', 'Z', '1', '10', '9', '__proto__', '\u{1f30d}', '\uffff');
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.oneof(fc.string({ unit: 'binary' }), fc.double(), fc.constantFrom(null, true, -0, undefined)),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(keys, tie('json'), { maxKeys: 4 }),
    ),
  }));
  const inOrder = (_: string, value: unknown) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const names = Object.keys(value);
      // An engine puts names that are indices first, so their order is looked at in the text alone.
      const texts = names.filter((name) => !/^\d+$/.test(name));
      expect(texts).toEqual([...texts].sort((a, b) => (a < b ? -1 : 1)));
    }
    return value;
  };
  fc.assert(
    fc.property(json, (value) => {
      const text = sortedText(value);
      expect(JSON.parse(text, inOrder)).toEqual(JSON.parse(JSON.stringify(value) ?? 'null'));
    }),
    { numRuns: cases(3000, 300) },
  );
  expect(sortedText({ '\\': 1, '"': 2, '\n': 3 })).toBe('{"\\n":3,"\\"":2,"\\\\":1}');
  expect(sortedText({ b: [{ d: 1, c: undefined, a: Number.NaN }], 10: 1, 9: 2, a: {} })).toBe(
    '{"10":1,"9":2,"a":{},"b":[{"a":null,"d":1}]}',
  );
});
