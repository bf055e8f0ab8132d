/** An account as operators see it. */
import { type AccountTier, type Limits, tierLimits } from '@gw/contract/access';
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
  readonly created_at: string;
}

export interface LimitsView {
  /** Requests per second, requests, requests per UTC day. */
  readonly per_s: number;
  readonly burst: number;
  readonly per_day: number;
}

const viewOfLimits = ({ ratePerS, burst, perDay }: Limits): LimitsView => ({ per_s: ratePerS, burst, per_day: perDay });

export function accountView(row: AccountRow): AccountView {
  // The database demands all three of an Enterprise account.
  const tier = viewOfLimits(tierLimits[row.tier === 'audit_plus' ? 'audit_plus' : 'audit']);
  return {
    id: row.id,
    object: 'account',
    name: row.name,
    tier: row.tier,
    state: row.state,
    models: row.models as string[] | null,
    limits: {
      per_s: row.limitPerS ?? tier.per_s,
      burst: row.limitBurst ?? tier.burst,
      per_day: row.limitPerDay ?? tier.per_day,
    },
    negotiated: row.limitPerS !== null || row.limitBurst !== null || row.limitPerDay !== null,
    created_at: row.createdAt.toISOString(),
  };
}
