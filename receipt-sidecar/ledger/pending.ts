/**
 * Marks the receipts of calls in flight as pending in Redis, with a lease: if this process dies, the control plane closes them as degraded.
 *
 * Invariant: nothing waits for a mark. A missing one only costs the degraded receipt of a call whose sidecar dies.
 */
import { pendingLeaseMs, pendingReceiptsKey, receiptKey, receiptTtlS } from '@gw/contract/internal/redis';
import type { Command, RedisWriter } from '@gw/service/redis-writer';

export interface PendingReceipts {
  add(receiptId: string, entry: Buffer): void;
  /** Stops renewing; the finished receipt removes the mark. */
  remove(receiptId: string): void;
  /** Removes the mark. */
  unmark(receiptId: string): void;
  /** Marks all receipts again, since Redis may have lost the marks. */
  markAll(): void;
  stop(): void;
}

export interface PendingOptions {
  readonly writes: Pick<RedisWriter, 'isReady' | 'send'>;
  /** The clock of Redis, ms since 1970. */
  readonly now: () => number;
  readonly isAway: () => boolean;
}

const renewEveryMs = pendingLeaseMs / 3;
/** The receipts expire after an hour, and a stream may last longer. */
const textEveryRenewals = 60;

export function openPendingReceipts({ writes, now, isAway }: PendingOptions): PendingReceipts {
  const inFlight = new Map<string, Buffer>();
  const put = (...commands: readonly Command[]): void => {
    writes.send(...commands).catch(() => undefined);
  };
  // Both commands are sent in the turn in which the provider is asked.
  const mark = (receiptId: string, entry: Buffer): void =>
    put(
      ['SET', receiptKey(receiptId), entry, 'EX', String(receiptTtlS)],
      ['ZADD', pendingReceiptsKey, String(now() + pendingLeaseMs), receiptId],
    );
  const markAll = (): void => {
    for (const [receiptId, entry] of inFlight) mark(receiptId, entry);
  };
  let renewals = 0;
  const renew = (): void => {
    if (inFlight.size === 0 || isAway()) return;
    renewals += 1;
    if (renewals % textEveryRenewals === 0) return markAll();
    const until = String(now() + pendingLeaseMs);
    put(['ZADD', pendingReceiptsKey, ...[...inFlight.keys()].flatMap((id) => [until, id])]);
  };
  const timer = setInterval(renew, renewEveryMs);
  return {
    add(receiptId, entry) {
      inFlight.set(receiptId, entry);
      if (!isAway()) mark(receiptId, entry);
    },
    remove: (receiptId) => void inFlight.delete(receiptId),
    unmark: (receiptId) => put(['UNLINK', receiptKey(receiptId)], ['ZREM', pendingReceiptsKey, receiptId]),
    markAll,
    stop: () => clearInterval(timer),
  };
}
