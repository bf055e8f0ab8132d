import { expect, test } from 'vitest';
import { findingOf, readDraft, ruleOf, samplesIn } from './parse.ts';

const rules = [{ id: 'one' }];

test('a draft is a list of rules, or a version of them, which says what it was made from', () => {
  expect(readDraft(JSON.stringify(rules))).toEqual({ rules, version: null });
  expect(readDraft(JSON.stringify({ object: 'policy_version', version: 7, rules }))).toEqual({ rules, version: 7 });
  expect(readDraft(JSON.stringify({ rules }))).toEqual({ rules, version: null });
  expect(readDraft('[]')).toEqual({ rules: [], version: null });
});

test.each(['', '[', 'null', '7', '{}', '{"rules":{}}'])('%j is no draft', (text) => {
  expect(readDraft(text)).toBeNull();
});

test('texts to try have an empty line between two', () => {
  expect(samplesIn('one\nand more\n\n  \ntwo\n\n')).toEqual(['one\nand more', 'two']);
  expect(samplesIn(' \n ')).toEqual([]);
});

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

test('an entry gives its code, its rules and its calls', () => {
  const after = {
    code: 'dual_use_screen_block',
    rule_ids: ['one', 'two'],
    policy_version: 7,
    calls: [{ event: 'e', at: '2026-11-21T09:00:00.123Z', request_id: 'r', text_salt: 's', text_sha256: 'h' }],
  };
  expect(findingOf({ after })).toEqual({
    code: 'dual_use_screen_block',
    ruleIds: ['one', 'two'],
    calls: [{ at: '2026-11-21T09:00:00.123Z', requestId: 'r' }],
  });
});

test.each([null, 'text', {}, { rule_ids: [1], calls: [null, { at: 1 }], code: 2 }])(
  'an entry that says something else (%j) gives what there is',
  (after) => {
    expect(findingOf({ after })).toEqual({ code: null, ruleIds: [], calls: [] });
  },
);
