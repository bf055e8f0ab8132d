/** Limits in tokens of tiers: how they are set, and whom they hold for. */
import { storedKey } from '@gw/testing/ext-authz/stored-key';
import { expect, test } from 'vitest';
import { withTierTokens } from './caller.ts';
import { loadConfig } from './config.ts';

const problemsOf = (text: string): string => {
  try {
    loadConfig({ GW_TIER_TOKENS: text });
  } catch (error) {
    return String(error);
  }
  return '';
};

test.each(['audit', 'audit=5', 'gold=5/5', 'audit=0/5', 'audit=5/x'])('%s is a problem that is named', (text) => {
  expect(problemsOf(text)).toContain(`GW_TIER_TOKENS: "${text}" is not a tier`);
});

test('limits of some tiers, in part or whole, are none', () => {
  for (const text of ['', 'audit=100000/5000000', 'audit=100000/,audit_plus=/5000000'])
    expect(problemsOf(text), text).not.toContain('GW_TIER_TOKENS');
});

test('an account has those of its tier where it has none of its own', () => {
  const tiers = { audit: { perMinute: 100, perDay: 5000 } };
  const tokensOf = (account: Parameters<typeof storedKey>[0]) =>
    withTierTokens(storedKey(account), tiers)?.account.tokens;
  expect(tokensOf({})).toEqual({ perMinute: 100, perDay: 5000 });
  expect(tokensOf({ account: { tokens: { perMinute: 700, perDay: null } } })).toEqual({ perMinute: 700, perDay: 5000 });
  expect(tokensOf({ account: { tier: 'audit_plus' } })).toEqual({ perMinute: null, perDay: null });
  expect(withTierTokens(null, tiers)).toBeNull();
});
