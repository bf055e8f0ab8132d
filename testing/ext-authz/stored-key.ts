/** A key as ext-authz finds it in its store. */
import { anyTolerance, tierLimits } from '@gw/contract/access';
import type { FoundKey } from '@gw/prisma/find-key';

type Changes = Partial<Omit<FoundKey, 'account'>> & { readonly account?: Partial<FoundKey['account']> };

/** An active one of an account of the tier `audit`, without a hash. */
export const storedKey = ({ account, ...more }: Changes = {}): FoundKey => ({
  publicId: 'AbcdefGhijkl',
  accountId: 'acct',
  hash: null,
  pepperVersion: 1,
  scopes: [],
  state: 'active',
  expiresAt: null,
  limits: null,
  project: null,
  budgets: [],
  ...more,
  account: {
    tier: 'audit',
    state: 'active',
    models: null,
    tolerance: anyTolerance,
    usageImpacts: false,
    limits: tierLimits.audit,
    tokens: { perMinute: null, perDay: null },
    shadow: [],
    ...account,
  },
});
