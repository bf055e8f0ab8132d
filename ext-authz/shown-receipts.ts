/**
 * Notes for the ledger what Envoy's access log tells of calls that may have lost their sidecar: the receipts that a client was
 * shown, which Envoy finished by itself or which the sidecar found no store for; and, where Redis was away meanwhile, so
 * that the call may be marked nowhere as under way, that there was a call at all. And which calls were given up before a provider was
 * asked, for a sidecar that stood still meanwhile and does not know.
 *
 * Invariant: it fails open. While Redis is away they wait in memory, up to a bound; if this process dies meanwhile they are
 * left to the sidecar, or to the lease that ends. That a call was given up does not wait: it is of use for seconds, and was told to a
 * sidecar too.
 */
import {
  callEndKey,
  callEndTtlS,
  ledgerStream,
  pendingReceiptsKey,
  receiptKey,
  receiptTtlS,
} from '@gw/contract/internal/redis';
import { accessLogEntries, shownReceipt, unattendedReceipt, unsentRequest } from '@gw/envoy/shown-receipt';
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

export interface ShownReceiptsOptions {
  readonly redis: Redis;
  readonly log: Logger;
  /** How long the sidecar of a call has to tell of it, ms. */
  readonly waitMs?: number;
}

/** Some 4,000 receipts with all their facts. */
const maxKeptChars = 16 * 1024 * 1024;
const tendEveryMs = 1000;

/** No call lasts longer, but streams, which their sidecar marks again. */
const longestCallMs = 15 * 60_000;
/** The sidecar of a call that has ended, if it lives, tells of it sooner. */
const unattendedAfterMs = 10_000;
const maxUnattended = 10_000;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: short functions over one state: what waits for Redis, and when that was away.
export function openShownReceipts({ redis, log, waitMs = unattendedAfterMs }: ShownReceiptsOptions): ShownReceipts {
  const kept = openKept(maxKeptChars);
  /** In the order of their ends. */
  const unattended = new Map<string, { readonly entry: string; readonly dueMs: number }>();
  let forgotten = 0;
  let awayMs = Number.NEGATIVE_INFINITY;
  const noteAway = (): boolean => {
    awayMs = performance.now();
    return false;
  };
  redis.on('close', noteAway);
  const taken = (...commands: Promise<unknown>[]): Promise<boolean> => Promise.all(commands).then(() => true, noteAway);
  const toStream = (entry: string) => redis.xadd(ledgerStream, '*', 'entry', entry);
  const isTaken = (receiptId: string, entry: string): Promise<boolean> =>
    taken(
      toStream(entry),
      redis.set(receiptKey(receiptId), entry, 'EX', receiptTtlS),
      redis.zrem(pendingReceiptsKey, receiptId),
    );
  const keep = (receiptId: string, entry: string): void => {
    if (kept.size === 0) log.warn('Redis does not take what clients were shown; it waits in memory');
    if (!kept.add(receiptId, entry)) log.error({ receiptId }, 'a receipt that a client was shown found no room');
  };
  const addUnattended = (receiptId: string, entry: string): void => {
    if (unattended.size < maxUnattended) unattended.set(receiptId, { entry, dueMs: performance.now() + waitMs });
    else forgotten += 1;
  };
  const handOver = async (untilMs: number): Promise<void> => {
    if (redis.status !== 'ready') return void noteAway();
    // One that hangs lets no mark of a call in either.
    if (!(await taken(redis.ping()))) return;
    await kept.hand(isTaken);
    for (const [receiptId, { dueMs, entry }] of unattended) {
      if (dueMs > untilMs || !(await taken(toStream(entry)))) break;
      unattended.delete(receiptId);
    }
  };
  let handing: Promise<unknown> | null = null;
  const tend = async (untilMs = performance.now()): Promise<void> => {
    handing ??= handOver(untilMs).finally(() => {
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
    gauge('gw_receipts_lost_total', 'Such receipts that memory had no room for', () => kept.lost + forgotten),
  ];
  return {
    note(message) {
      for (const logged of accessLogEntries(message)) {
        const requestId = unsentRequest(logged);
        if (requestId !== null) {
          void taken(redis.set(callEndKey(requestId), 'unsent', 'EX', callEndTtlS));
          continue;
        }
        const shown = shownReceipt(logged);
        if (shown !== null) {
          const { receiptId, entry } = shown;
          void isTaken(receiptId, entry).then((is) => is || keep(receiptId, entry));
          continue;
        }
        const ended = performance.now() - awayMs < longestCallMs ? unattendedReceipt(logged) : null;
        if (ended !== null) addUnattended(ended.receiptId, ended.entry);
      }
    },
    register: (registry) => {
      for (const each of gauges) registry.registerMetric(each);
    },
    async stop() {
      clearInterval(timer);
      redis.off('close', noteAway);
      await tend(Number.POSITIVE_INFINITY);
    },
  };
}
