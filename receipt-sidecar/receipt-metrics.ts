/** What the monitoring system reads of the receipts that this sidecar makes. */
import { type DegradedReason, degradedReasons } from '@gw/contract/receipt';
import { Counter, Gauge, type Registry } from 'prom-client';

export interface ReceiptMetrics {
  /** Counts a receipt; null as `reason` means that it has numbers. */
  made(reason: DegradedReason | null): void;
  /** Counts a stream that went on with text behind its receipt. */
  wentOn(): void;
  /** Adds the metrics to those of the service. */
  register(registry: Registry): void;
}

/** `unstored` gives how many receipts no store has taken yet, and how many were lost. */
export function createReceiptMetrics(unstored: () => { readonly kept: number; readonly lost: number }): ReceiptMetrics {
  const receipts = new Counter({
    name: 'gw_receipts_total',
    help: 'Receipts made here, by the reason of degraded ones; "none" are those with numbers',
    labelNames: ['degraded_reason'],
    registers: [],
  });
  const labels = (reason: DegradedReason | null) => ({ degraded_reason: reason ?? 'none' });
  // Known from the start, so that the first one is an increase.
  for (const reason of [null, ...degradedReasons]) receipts.inc(labels(reason), 0);
  const kept = new Gauge({
    name: 'gw_receipts_kept',
    help: 'Receipts in memory because neither Redis nor the spool takes them',
    registers: [],
    collect() {
      this.set(unstored().kept);
    },
  });
  const lost = new Gauge({
    name: 'gw_receipts_lost_total',
    help: 'Receipts that no store took and memory had no room for',
    registers: [],
    collect() {
      this.set(unstored().lost);
    },
  });
  const partial = new Counter({
    name: 'gw_receipts_partial_total',
    help: 'Receipts of streams whose provider stood still behind the end that it had named, and then went on with text',
    registers: [],
  });
  return {
    made: (reason) => receipts.inc(labels(reason)),
    wentOn: () => partial.inc(),
    register: (registry) => {
      for (const metric of [receipts, kept, lost, partial]) registry.registerMetric(metric);
    },
  };
}
