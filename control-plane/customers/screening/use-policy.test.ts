import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Declaration, loadUsePolicy, screenDualUse, screenUse } from './use-policy.ts';

const policy = loadUsePolicy({ policyFile: null });
const declared = (changes: Partial<Declaration> = {}): Declaration => ({
  intended_use: 'Answers to questions of customers about their orders.',
  uses: ['customer_support'],
  industry: 'retail',
  countries: ['DE', 'FR'],
  ...changes,
});

test('a harmless declaration is clear, and the result names the rules', () => {
  const result = screenUse(declared(), policy);
  expect(result).toMatchObject({ outcome: 'clear', high_risk: false, policy_version: policy.version });
  expect(result.policy_sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(screenDualUse(declared(), policy)).toMatchObject({ outcome: 'clear' });
});

test('each prohibited use of the policy is recognised where it is declared', () => {
  for (const { id } of policy.prohibited_uses)
    expect(screenUse(declared({ uses: ['customer_support', id] }), policy)).toMatchObject({
      outcome: 'prohibited',
      prohibited: [id],
    });
});

test('each phrase of the policy is found in a text, whatever its case and punctuation, and left to people', () => {
  for (const phrase of policy.prohibited_uses.flatMap((use) => use.phrases))
    expect(
      screenUse(declared({ intended_use: `We do "${phrase.toUpperCase().replaceAll(' ', ' – ')}".` }), policy),
    ).toMatchObject({ outcome: 'match', phrases: expect.arrayContaining([phrase]) });
  for (const phrase of policy.dual_use.phrases)
    expect(screenDualUse(declared({ intended_use: `about ${phrase}, mostly` }), policy).outcome).toBe('match');
});

test('a phrase inside of another word is none', () => {
  expect(screenUse(declared({ intended_use: 'We collect malwarehouse data and antispywares.' }), policy).outcome).toBe(
    'clear',
  );
});

test('a country of the policy is a match of dual use', () => {
  for (const country of policy.dual_use.countries)
    expect(screenDualUse(declared({ countries: ['DE', country] }), policy)).toMatchObject({
      outcome: 'match',
      countries: [country],
    });
});

test('each industry has the risk that the policy states, and an unknown one is of high risk', () => {
  for (const { id, high_risk } of policy.industries)
    expect(screenUse(declared({ industry: id }), policy).high_risk).toBe(high_risk);
  expect(screenUse(declared({ industry: 'taken_out' }), policy).high_risk).toBe(true);
});

test('a policy file that is missing or not as it should be is refused, and another content has another hash', () => {
  const path = join(tmpdir(), `gw-policy-${process.pid}.json`);
  expect(() => loadUsePolicy({ policyFile: `${path}.missing` })).toThrow();
  const { sha256, ...rules } = policy;
  writeFileSync(path, JSON.stringify({ ...rules, industries: [] }));
  expect(() => loadUsePolicy({ policyFile: path })).toThrow();
  // Two letters that are no country would match nobody.
  for (const countries of [['IR', 'NK'], ['XX'], ['ir']]) {
    writeFileSync(path, JSON.stringify({ ...rules, dual_use: { ...rules.dual_use, countries } }));
    expect(() => loadUsePolicy({ policyFile: path }), countries.join()).toThrow('ISO 3166-1');
  }
  writeFileSync(path, JSON.stringify({ ...rules, version: 'other' }));
  expect(loadUsePolicy({ policyFile: path }).sha256).not.toBe(sha256);
});
