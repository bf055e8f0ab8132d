import { expect, test } from 'vitest';
import { ruleOf } from './rule-of.ts';

const head = { id: 'one', title: 'One', screen: 'dual_use', action: 'block', enabled: true };
const phrases = { ...head, kind: 'phrases', phrases: ['make it'], unless: ['make it home'], before: ['at'] };
const pattern = { ...head, kind: 'pattern', pattern: 'make', needs: ['make'] };

test('rules of this release are read with all that they say', () => {
  expect(ruleOf(phrases)).toEqual(phrases);
  expect(ruleOf(pattern)).toEqual(pattern);
  expect(ruleOf({ ...head, kind: 'phrases', phrases: ['make it'] })).toEqual({
    ...head,
    kind: 'phrases',
    phrases: ['make it'],
  });
});

test.each([
  ['another kind', { ...phrases, kind: 'embedding' }],
  ['another screen', { ...phrases, screen: 'privacy' }],
  ['another action', { ...phrases, action: 'ask' }],
  ['phrases that are no texts', { ...phrases, phrases: [1] }],
  ['exceptions that are no list', { ...phrases, unless: 'make it home' }],
  ['a pattern without what it needs', { ...head, kind: 'pattern', pattern: 'make' }],
  ['no title', { ...phrases, title: undefined }],
  ['no word on whether it is on', { ...phrases, enabled: 'yes' }],
])('a rule of another release is not guessed at: %s', (_, stored) => {
  expect(ruleOf(stored)).toBeNull();
});
