/** Metrics of the receipts that this sidecar makes. */
import { type DegradedReason, degradedReasons } from '@gw/contract/receipt';
import { Counter, Gauge, type Registry } from 'prom-client';
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
  const receipts = new Counter({
    name: 'gw_receipts_total',
    help: 'Receipts made here, by the reason of degraded ones; "none" are those with numbers',
    labelNames: ['degraded_reason'],
    registers: [],
  });
  const labels = (reason: DegradedReason | null) => ({ degraded_reason: reason ?? 'none' });
  // Known from the start, so that the first one is an increase.
  for (const reason of [null, ...degradedReasons]) receipts.inc(labels(reason), 0);
  const gauge = (name: string, help: string, value: (counts: LedgerCounts) => number) =>
    new Gauge({
      name,
      help,
      registers: [],
      collect() {
        this.set(value(ledger()));
      },
    });
  const gauges = [
    gauge('gw_receipts_kept', 'Receipts in memory because neither Redis nor the spool takes them', ({ kept }) => kept),
    gauge('gw_receipts_lost_total', 'Receipts that no store took and memory had no room for', ({ lost }) => lost),
    gauge(
      'gw_receipts_unguarded_total',
      'Receipts that Redis alone has, since memory had no room for them before Postgres had them',
      ({ unguarded }) => unguarded,
    ),
    gauge('gw_spool_damaged_total', 'Lines of the spool that were damaged and are kept for a human', damagedLines),
    gauge('gw_ledger_stream_length', 'Receipts that wait in Redis for Postgres', ({ length }) => length),
    gauge('gw_ledger_stream_oldest_seconds', 'How long the oldest of them has waited', ({ oldestAt }) =>
      oldestAt === null ? 0 : Math.max(0, Date.now() - oldestAt) / 1000,
    ),
  ];
  const partial = new Counter({
    name: 'gw_receipts_partial_total',
    help: 'Receipts of streams whose provider stood still behind the end that it had named, and then went on with text',
    registers: [],
  });
  return {
    made: (reason) => receipts.inc(labels(reason)),
    wentOn: () => partial.inc(),
    register: (registry) => {
      for (const metric of [receipts, ...gauges, partial]) registry.registerMetric(metric);
    },
  };
}
