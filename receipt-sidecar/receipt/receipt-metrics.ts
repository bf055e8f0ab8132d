/** Metrics of the receipts that this sidecar makes. */
import { type DegradedReason, degradedReasons } from '@gw/contract/receipt';
import { counter, gauge, registering } from '@gw/service/metric';
import type { Registry } from 'prom-client';
import type { LedgerCounts } from '../ledger/writer.ts';

export interface ReceiptMetrics {
  /** Counts a receipt; null as `reason` means that it has numbers. */
  made(reason: DegradedReason | null): void;
  /** Counts a stream that went on with text behind its receipt. */
  wentOn(): void;
  /** Adds the metrics to those of the service. */
  register(registry: Registry): void;
}

/** `ledger` gives what the ledger's writer counts; `damagedLines` those of the spool that are not what was written. */
export function createReceiptMetrics(ledger: () => LedgerCounts, damagedLines: () => number): ReceiptMetrics {
  const receipts = counter(
    'gw_receipts_total',
    'Receipts made here, by the reason of degraded ones; "none" are those with numbers',
    { degraded_reason: ['none', ...degradedReasons] },
  );
  const gauges = [
    gauge('gw_receipts_kept', 'Receipts in memory because neither Redis nor the spool takes them', () => ledger().kept),
    gauge('gw_receipts_lost_total', 'Receipts that no store took and memory had no room for', () => ledger().lost),
    gauge(
      'gw_receipts_unguarded_total',
      'Receipts that Redis alone has, since memory had no room for them before Postgres had them',
      () => ledger().unguarded,
    ),
    gauge(
      'gw_receipts_committed_kept_seconds',
      'How far back the receipts reach that are kept for a Postgres that goes back in time',
      () => ledger().committedMs / 1000,
    ),
    gauge(
      'gw_receipts_put_again_total',
      'Receipts that were put in again since Postgres had gone back in time',
      () => ledger().putAgain,
    ),
    gauge('gw_spool_damaged_total', 'Lines of the spool that were damaged and are kept for a human', damagedLines),
    gauge('gw_ledger_stream_length', 'Receipts that wait in Redis for Postgres', () => ledger().length),
    gauge('gw_ledger_stream_oldest_seconds', 'How long the oldest of them has waited', () => {
      const { oldestAt } = ledger();
      return oldestAt === null ? 0 : Math.max(0, Date.now() - oldestAt) / 1000;
    }),
  ];
  const partial = counter(
    'gw_receipts_partial_total',
    'Receipts of streams whose provider stood still behind the end that it had named, and then went on with text',
    {},
  );
  return {
    made: (reason) => receipts.inc({ degraded_reason: reason ?? 'none' }),
    wentOn: () => partial.inc(),
    register: registering(receipts, ...gauges, partial),
  };
}
