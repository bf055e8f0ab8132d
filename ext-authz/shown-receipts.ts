/**
 * Notes for the ledger the receipts that Envoy's access log says a client was shown: those that Envoy finished by itself,
 * and those that the sidecar found no store for. The sidecar that is told of them too may be the one that died.
 *
 * Invariant: it fails open. While Redis is away they wait in memory, up to a bound; if this process dies meanwhile they are
 * left to the sidecar, or to the lease that ends.
 */
import { ledgerStream, pendingReceiptsKey, receiptKey, receiptTtlS } from '@gw/contract/internal/redis';
import { accessLogEntries, shownReceipt } from '@gw/envoy/shown-receipt';
import type { StreamAccessLogsMessage } from '@gw/grpc/service';
import { openKept } from '@gw/service/kept';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import { Gauge, type Registry } from 'prom-client';

export interface ShownReceipts {
  note(message: StreamAccessLogsMessage): void;
  /** Adds the metrics to those of the service. */
  register(registry: Registry): void;
  /** Hands what waits to Redis once more. */
  stop(): Promise<void>;
}

/** Some 4,000 receipts with all their facts. */
const maxKeptChars = 16 * 1024 * 1024;
const tendEveryMs = 1000;

export function openShownReceipts({ redis, log }: { readonly redis: Redis; readonly log: Logger }): ShownReceipts {
  const kept = openKept(maxKeptChars);
  const isTaken = (receiptId: string, entry: string): Promise<boolean> =>
    Promise.all([
      redis.xadd(ledgerStream, '*', 'entry', entry),
      redis.set(receiptKey(receiptId), entry, 'EX', receiptTtlS),
      redis.zrem(pendingReceiptsKey, receiptId),
    ]).then(
      () => true,
      () => false,
    );
  const keep = (receiptId: string, entry: string): void => {
    if (kept.size === 0) log.warn('Redis does not take what clients were shown; it waits in memory');
    if (!kept.add(receiptId, entry)) log.error({ receiptId }, 'a receipt that a client was shown found no room');
  };
  let handing: Promise<unknown> | null = null;
  const tend = async (): Promise<void> => {
    if (kept.size === 0 || redis.status !== 'ready') return;
    handing ??= kept.hand(isTaken).finally(() => {
      handing = null;
    });
    await handing;
  };
  const timer = setInterval(() => void tend(), tendEveryMs);
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers: [],
      collect() {
        this.set(value());
      },
    });
  const gauges = [
    gauge('gw_receipts_kept', 'Receipts that clients were shown, in memory until Redis is back', () => kept.size),
    gauge('gw_receipts_lost_total', 'Such receipts that memory had no room for', () => kept.lost),
  ];
  return {
    note(message) {
      for (const logged of accessLogEntries(message)) {
        const shown = shownReceipt(logged);
        if (shown === null) continue;
        const { receiptId, entry } = shown;
        void isTaken(receiptId, entry).then((taken) => taken || keep(receiptId, entry));
      }
    },
    register: (registry) => {
      for (const each of gauges) registry.registerMetric(each);
    },
    async stop() {
      clearInterval(timer);
      await tend();
    },
  };
}
