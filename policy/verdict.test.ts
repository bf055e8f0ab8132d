import type { PolicyRule } from '@gw/contract/internal/policy-rules';
import { expect, test } from 'vitest';
import { verdictOf } from './verdict.ts';

const rule = (id: string, screen: PolicyRule['screen'], action: PolicyRule['action']): PolicyRule => ({
  id,
  title: id,
  screen,
  action,
  enabled: true,
  kind: 'phrases',
  phrases: ['a phrase'],
});
const flagged = rule('flagged', 'acceptable_use', 'flag');
const dual = rule('dual', 'dual_use', 'block');
const unacceptable = rule('unacceptable', 'acceptable_use', 'block');

test('the first rule that blocks decides the code, and every rule is named', () => {
  expect(verdictOf([flagged, dual, unacceptable], [])).toEqual({
    action: 'block',
    code: 'dual_use_screen_block',
    decisive: 'dual',
    ruleIds: ['flagged', 'dual', 'unacceptable'],
  });
  expect(verdictOf([unacceptable, dual], [])?.code).toBe('acceptable_use_violation');
});

test('rules that only flag let the call pass, and none at all say nothing', () => {
  expect(verdictOf([flagged], [])).toEqual({
    action: 'flag',
    code: 'acceptable_use_violation',
    decisive: 'flagged',
    ruleIds: ['flagged'],
  });
  expect(verdictOf([], [])).toBeNull();
});

test('a rule from which the account is exempt has no part in the verdict, and is not named', () => {
  expect(verdictOf([flagged, dual, unacceptable], ['dual'])).toEqual({
    action: 'block',
    code: 'acceptable_use_violation',
    decisive: 'unacceptable',
    ruleIds: ['flagged', 'unacceptable'],
  });
  expect(verdictOf([dual], ['dual', 'unknown'])).toBeNull();
});
