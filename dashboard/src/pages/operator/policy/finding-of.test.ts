import { expect, test } from 'vitest';
import { findingOf } from './finding-of.ts';

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
