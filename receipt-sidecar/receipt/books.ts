import type { EntrySealer } from '@gw/contract/internal/sealed-entry';
import type { TokenUsage } from '@gw/methodology/assess';
import type { FaultLog } from '@gw/service/fault-log';
import type { FailedAttempts } from '../attempts/failed-attempts.ts';
import type { LedgerWriter } from '../ledger/writer.ts';
import type { LiveCounts } from './live.ts';
import type { ReceiptMetrics } from './receipt-metrics.ts';
import type { ShownReceipt } from './shown-receipt.ts';
import type { UsageMetrics } from './usage-metrics.ts';

export interface Recorded extends ShownReceipt {
  /** The trace as JSON text; empty if there is none. */
  readonly routingTrace: string;
  /** Null if nothing could be counted. */
  readonly counts: TokenUsage | null;
  /**
   * Resolves to what the client gets: this very receipt when it is safe, or a degraded one if no store took
   * it in time. Never rejects.
   */
  readonly saved: Promise<ShownReceipt>;
}

/** Where a receipt is stored and counted, and what is known of the call beside it. */
export interface Books {
  readonly ledger: LedgerWriter;
  readonly sealer: Pick<EntrySealer, 'seal' | 'sealStandIn'>;
  readonly metrics: ReceiptMetrics;
  readonly usageMetrics: Pick<UsageMetrics, 'count'>;
  readonly live: Pick<LiveCounts, 'ended' | 'refused'>;
  readonly failedAttempts: Pick<FailedAttempts, 'of'>;
  readonly faults: Pick<FaultLog, 'fault'>;
}
