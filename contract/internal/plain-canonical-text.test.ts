import { cases } from '@gw/testing/cases';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalText } from './ledger-entry.ts';
import { plainCanonicalText, reorderedText } from './plain-canonical-text.ts';

const name = fc.oneof(
  fc.nat(120).map(String),
  fc.constantFrom('', 'a', 'b', 'B', '10', '9', '__proto__', 'é', '\u{1F600}', '\uFB33', '"', '\\', '\u0000', '\u007f'),
);
const leaf = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -0,
    1e21,
    1e-7,
    5e-324,
    '\u2028',
    '\ud83d\ude00',
    '"',
    '\\u0041',
    'a\nb',
  ),
);
/** Few names and many objects, so that shapes come again with their names in another order. */
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    leaf,
    fc.array(tie('value'), { maxLength: 5 }),
    fc
      .uniqueArray(fc.tuple(name, tie('value')), { selector: ([key]) => key, maxLength: 8 })
      .map((fields) =>
        JSON.parse(`{${fields.map(([key, each]) => `${JSON.stringify(key)}:${JSON.stringify(each)}`).join()}}`),
      ),
  ),
}));

test('it is the RFC 8785 form, whatever shapes came before', () => {
  fc.assert(
    fc.property(value, (each) => {
      expect(plainCanonicalText(each)).toBe(canonicalize(each));
    }),
    { numRuns: cases(3000) },
  );
});

test('what is no plain JSON is refused, and has from the ledger what the library says of it', () => {
  const made = new Date(0);
  for (const each of [undefined, Number.NaN, Infinity, 1n, made, () => 1, '\ud800', new Map(), new (class Own {})()]) {
    expect(() => plainCanonicalText(each)).toThrow();
    expect(() => plainCanonicalText({ a: [each] })).toThrow();
    expect(() => plainCanonicalText({ toJSON: each, ...(typeof each === 'string' && { [each]: 1 }) })).toThrow();
  }
  expect(canonicalText({ b: made, a: undefined })).toBe('{"b":"1970-01-01T00:00:00.000Z"}');
  expect(canonicalText({ b: [Number.NaN], a: 1 })).toBe('{"a":1,"b":[null]}');
  expect(() => canonicalText({ a: '\ud800' })).toThrow();
});

test('it is right for more shapes than it remembers, and values too deep for it are left to the library', () => {
  for (let at = 0; at < 1000; at += 1)
    expect(plainCanonicalText({ [`b${at}`]: 1, [`a${at}`]: 2 })).toBe(`{"a${at}":2,"b${at}":1}`);
  const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
  expect(canonicalText(deep)).toBe(canonicalize(deep));
});

test('the members of a text that are put into their order are its canonical form, whatever their texts look like', () => {
  const item = fc.oneof(leaf, fc.constantFrom(',"a":', '","a":', '{"a":1}', '"a":1,"b":', '\\","B":'));
  const flat = fc.dictionary(name, fc.oneof(item, fc.array(item, { maxLength: 3 })), { maxKeys: 8 });
  fc.assert(
    fc.property(fc.oneof(flat, value), (made) => {
      const text = JSON.stringify(made);
      const read: unknown = JSON.parse(text);
      if (typeof read !== 'object' || read === null || Array.isArray(read)) return;
      const found = reorderedText(JSON.stringify(read), read);
      if (found !== null) expect(found).toBe(canonicalText(read));
    }),
    { numRuns: cases(5000) },
  );
  expect(reorderedText('{"b":",\\"a\\":","a":["b",1]}', { b: ',"a":', a: ['b', 1] })).toBe(
    '{"a":["b",1],"b":",\\"a\\":"}',
  );
  for (const other of [{ a: { b: 1 } }, { a: [[1]] }, { a: '\ud800' }, {}])
    expect(reorderedText(JSON.stringify(other), other)).toBeNull();
});
