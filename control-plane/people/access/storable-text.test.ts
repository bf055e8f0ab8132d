import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isStorable } from './storable-text.ts';

const half = fc.constantFrom('\0', '\ud800', '\udfff', 'a\0b', '\ud83dx');
const tree = (leaf: fc.Arbitrary<unknown>) =>
  fc.oneof(
    fc.tuple(fc.jsonValue(), leaf),
    leaf.map((inner) => ({ a: [{ b: inner }] })),
  );

test('NUL and halves of surrogate pairs are found wherever they stand, also in the name of a field', () => {
  fc.assert(fc.property(tree(half), (value) => !isStorable(value)));
  fc.assert(fc.property(half, (name) => !isStorable({ x: { [name]: 1 } })));
});

test('all other text passes', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => isStorable([text]) === !text.includes('\0')));
  expect(isStorable([undefined, null, 1, true, 'Zoë 😀', { a: ['\n'] }])).toBe(true);
});

test('a body that nests as deep as its size allows is no fault', () => {
  expect(isStorable(JSON.parse(`${'['.repeat(30_000)}${']'.repeat(30_000)}`))).toBe(true);
});
