/** An account as operators see it. */
import { type AccountTier, enterpriseStreams, type ShadowLimit, shadowLimits, tierLimits } from '@gw/contract/access';
import type { Prisma } from '@gw/prisma/client';

export type AccountRow = Prisma.AccountGetPayload<object>;

export interface AccountView {
  readonly id: string;
  readonly object: 'account';
  readonly name: string;
  readonly tier: AccountTier;
  readonly state: AccountRow['state'];
  /** Allow-list; null: every model. */
  readonly models: readonly string[] | null;
  /** What holds for the account. */
  readonly limits: LimitsView;
  /** True: `limits` are the account's own, not those of its tier. */
  readonly negotiated: boolean;
  /** Limits that are counted and reported, and refuse nothing. */
  readonly shadow: readonly ShadowLimit[];
  readonly created_at: string;
}

export interface LimitsView {
  /** Requests per second, requests, requests per UTC day. */
  readonly per_s: number;
  readonly burst: number;
  readonly per_day: number;
  /** Open at once. */
  readonly streams: number;
}

export function accountView(row: AccountRow): AccountView {
  // The database demands all three of an Enterprise account.
  const tier = tierLimits[row.tier === 'audit_plus' ? 'audit_plus' : 'audit'];
  return {
    id: row.id,
    object: 'account',
    name: row.name,
    tier: row.tier,
    state: row.state,
    models: row.models as string[] | null,
    limits: {
      per_s: row.limitPerS ?? tier.ratePerS,
      burst: row.limitBurst ?? tier.burst,
      per_day: row.limitPerDay ?? tier.perDay,
      streams: row.limitStreams ?? (row.tier === 'enterprise' ? enterpriseStreams : tier.streams),
    },
    negotiated: row.limitPerS !== null || row.limitBurst !== null || row.limitPerDay !== null,
    shadow: shadowLimits.filter((limit) => row.limitShadow.includes(limit)),
    created_at: row.createdAt.toISOString(),
  };
}
