import { expect, test } from 'vitest';
import { readDraft, samplesIn } from './read-draft.ts';

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
