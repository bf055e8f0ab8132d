import { cases } from '@gw/testing/cases';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalText } from './canonical-text.ts';

/** Parsed again, as a body is: no key is `__proto__` of the object, and -0 is what JSON says. */
const json = fc.json({ maxDepth: 5 }).map((text) => JSON.parse(text) as unknown);
const key = fc.oneof(
  fc.nat(120).map(String),
  fc.constantFrom('', 'a', 'B', '10', '9', 'é', '\u{1F600}', '\uFB33', '"'),
);

test('it is the RFC 8785 form', () => {
  const object = fc.dictionary(key, fc.oneof(json, fc.double({ noNaN: true, noDefaultInfinity: true })));
  fc.assert(
    fc.property(fc.oneof(json, object, fc.array(object)), (value) => {
      expect(canonicalText(value)).toBe(canonicalize(value));
    }),
    { numRuns: cases(500) },
  );
});

test('a list of plain values is written in one step, however many it has', () => {
  let asked = 0;
  const map = (): unknown[] => {
    asked += 1;
    return [];
  };
  const counted = (list: unknown[]) => Object.assign(list, { map });
  expect(canonicalText({ b: counted([1, 2.5, null, 'x', true]), a: 1e21 })).toBe(
    '{"a":1e+21,"b":[1,2.5,null,"x",true]}',
  );
  expect(asked).toBe(0);
});
