/** A question about usage. */
import type { OperatorUsageGroup, UsageQuery } from '@gw/contract/usage';

export interface UsageQuestion extends Pick<UsageQuery, 'interval' | 'simulated' | 'version'> {
  readonly group_by: readonly OperatorUsageGroup[];
  /** The time of the calls: from this one, until before that one. */
  readonly from: Date;
  readonly to: Date;
  /** Null: of all accounts. */
  readonly accountId: string | null;
  /** The currency of the prices. */
  readonly currency: string;
}
