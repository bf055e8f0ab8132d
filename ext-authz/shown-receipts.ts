/**
 * Records in the ledger what Envoy's access log says about calls that may have lost their sidecar: receipts that a client was shown,
 * if Envoy finished the reply itself or the sidecar found no store; calls that ended while Redis was unavailable, since they may be
 * marked as pending nowhere; and calls aborted before a provider was asked, for a sidecar that was suspended meanwhile.
 *
 * Invariant: it holds no key and makes no entry: what it hands on was sealed by the sidecar of the call. It fails open. While Redis is unavailable receipts wait in memory, up to a limit. If this process dies meanwhile, they are
 * left to the sidecar or to the expiry of their lease. Aborted calls do not wait, because the entry is only useful for seconds and Envoy
 * told a sidecar too.
 */
import { callEndKey, callEndTtlS, ledgerStream } from '@gw/contract/internal/redis';
import { accessLogEntries, shownReceipt, unattendedReceipt, unsentRequest } from '@gw/envoy/shown-receipt';
import type { StreamAccessLogsMessage } from '@gw/grpc/service';
import { appendingTo, appendScript } from '@gw/service/append-entry';
import { openKept } from '@gw/service/kept';
import type { Logger } from '@gw/service/log';
import { gauge, registering } from '@gw/service/metric';
import type { Redis } from 'ioredis';
import type { Registry } from 'prom-client';

export interface ShownReceipts {
  note(message: StreamAccessLogsMessage): void;
  register(registry: Registry): void;
  /** Tries once more to write the waiting entries to Redis. */
  stop(): Promise<void>;
}

export interface ShownReceiptsOptions {
  readonly redis: Redis;
  readonly log: Logger;
  /** How long the sidecar of a call may take to report it, ms. */
  readonly waitMs?: number;
}

/** Some 4,000 receipts with all their facts. */
const maxKeptBytes = 16 * 1024 * 1024;
const tendEveryMs = 1000;

/** No call lasts longer except streams, which their sidecar marks again. */
const longestCallMs = 15 * 60_000;
/** A live sidecar reports the end of a call earlier. */
const unattendedAfterMs = 10_000;
const maxUnattended = 10_000;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: short functions over one state: the entries that wait for Redis.
export function openShownReceipts({ redis, log, waitMs = unattendedAfterMs }: ShownReceiptsOptions): ShownReceipts {
  const kept = openKept(maxKeptBytes);
  /** In the order in which the calls ended. */
  const unattended = new Map<string, { readonly entry: Buffer; readonly dueMs: number }>();
  let forgotten = 0;
  let awayMs = Number.NEGATIVE_INFINITY;
  const noteAway = (): boolean => {
    awayMs = performance.now();
    return false;
  };
  redis.on('close', noteAway);
  const taken = (...commands: Promise<unknown>[]): Promise<boolean> => Promise.all(commands).then(() => true, noteAway);
  const toStream = (entry: Buffer) => redis.xadd(ledgerStream, '*', 'entry', entry);
  const isTaken = (receiptId: string, entry: Buffer): Promise<boolean> => {
    const [keys, args] = appendingTo(receiptId, entry);
    return taken(redis.eval(appendScript, keys.length, ...keys, ...args));
  };
  const keep = (receiptId: string, entry: Buffer): void => {
    if (kept.size === 0) log.warn('Redis does not take what clients were shown; it waits in memory');
    if (!kept.add(receiptId, entry)) log.error({ receiptId }, 'a receipt that a client was shown found no room');
  };
  const addUnattended = (receiptId: string, entry: Buffer): void => {
    if (unattended.size < maxUnattended) unattended.set(receiptId, { entry, dueMs: performance.now() + waitMs });
    else forgotten += 1;
  };
  const handOver = async (untilMs: number): Promise<void> => {
    if (redis.status !== 'ready') return void noteAway();
    // A hanging Redis has not stored marks of pending calls either.
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
    register: registering(...gauges),
    async stop() {
      clearInterval(timer);
      redis.off('close', noteAway);
      await tend(Number.POSITIVE_INFINITY);
    },
  };
}
