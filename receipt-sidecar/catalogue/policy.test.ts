import { type PolicyRule, rulesSha256 } from '@gw/contract/internal/policy-rules';
import type { Snapshot } from '@gw/contract/internal/snapshot';
import { emptySnapshot } from '@gw/testing/catalogue';
import { expect, test } from 'vitest';
import { makeCatalogue } from './snapshot.ts';

const rule = (id: string, fields: Partial<PolicyRule>, phrase: string): PolicyRule =>
  ({
    id,
    title: id,
    screen: 'dual_use',
    action: 'block',
    enabled: true,
    kind: 'phrases',
    phrases: [phrase],
    ...fields,
  }) as PolicyRule;
const rules = [
  rule('watched', { action: 'flag', screen: 'acceptable_use' }, 'watched words'),
  rule('weapons', {}, 'forbidden weapon'),
  rule('abuse', { screen: 'acceptable_use' }, 'forbidden abuse'),
];
const snapshot: Snapshot = {
  ...emptySnapshot,
  policy: { version: 7, sha256: rulesSha256(rules), rules, exemptions: { exempt: ['weapons', 'watched'] } },
};

const unusable = [
  ['cannot be matched', { rules: [{ ...rule('broken', {}, 'x y z'), kind: 'pattern', pattern: '(', needs: ['abc'] }] }],
  ['is of a kind that a later release has', { rules: [{ ...rule('newer', {}, 'x y z'), kind: 'meaning' }] }],
  ['is none', { rules: 5 }],
] as const;
test.each(unusable)(
  'a set of rules that %s holds up nothing else: the last one stays, else the built-in one',
  (_, bad) => {
    const policy = { version: 8, sha256: '0'.repeat(64), exemptions: {}, ...bad };
    const next = { ...snapshot, version: 2, policy };
    const before = makeCatalogue(snapshot);
    const after = makeCatalogue(next, before);
    expect(after.version).toBe(2);
    expect(after.policy).toEqual({
      ...before.policy,
      unusable: expect.stringMatching(/cannot be (?:read|matched): ./),
    });
    expect(after.policy.exemptOf('exempt')).toEqual(['weapons', 'watched']);
    const first = makeCatalogue(next);
    expect([first.policy.version, first.policy.compiled.rules.length > 0]).toEqual([0, true]);
    expect(first.policy.unusable).not.toBeNull();
    expect(makeCatalogue({ ...snapshot, version: 3 }, after).policy).toMatchObject({ version: 7, unusable: null });
  },
);

test('rules that stay the same are made ready once, while exemptions change with each snapshot', () => {
  const first = makeCatalogue(snapshot);
  const policy = { version: 9, sha256: rulesSha256(rules), rules, exemptions: { other: ['abuse'] } };
  const second = makeCatalogue({ ...snapshot, policy }, first);
  expect(second.policy.compiled).toBe(first.policy.compiled);
  expect([second.policy.version, second.policy.exemptOf('other'), second.policy.exemptOf('exempt')]).toEqual([
    9,
    ['abuse'],
    [],
  ]);
});
