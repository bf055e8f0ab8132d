import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sameJson, sha256Of } from './digest.ts';

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
