/**
 * Writes receipts behind the reply: into the ledger's Redis stream, or onto disk while Redis is away.
 *
 * Invariant: a receipt whose id a client has seen is never lost by one fault: it is in Redis before the reply goes out,
 * or in the spool. Fails open: if neither takes it in time, the completion still goes out, and the log says so.
 */
import { ledgerStream, pendingLeaseMs, pendingReceiptsKey, receiptKey, receiptTtlS } from '@gw/contract/internal/redis';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import type { Spool } from './spool.ts';

export interface LedgerWriter {
  /** A call is on its way to a provider: if this process dies, the control plane closes the receipt as degraded. */
  begin(receiptId: string, entry: string): void;
  /** The call reached no provider: its pending receipt is taken back. */
  discard(receiptId: string): void;
  /** The receipt is made. Resolves when it is safe, at the latest after the write time-out. Never rejects. */
  finish(receiptId: string, entry: string): Promise<void>;
  stop(): Promise<void>;
}

export interface LedgerWriterOptions {
  readonly redis: Redis;
  readonly spool: Spool;
  readonly now: () => number;
  readonly log: Logger;
}

const renewEveryMs = pendingLeaseMs / 3;
const replayEveryMs = 1000;
const replayBatch = 200;

const idOf = (entry: string): string => (JSON.parse(entry) as { receipt: { id: string } }).receipt.id;

export function openLedgerWriter({ redis, spool, now, log }: LedgerWriterOptions): LedgerWriter {
  const underWay = new Set<string>();
  let spooled = true; // An earlier process may have left something.
  let away = false;

  const renew = setInterval(() => {
    if (underWay.size === 0) return;
    const until = now() + pendingLeaseMs;
    redis.zadd(pendingReceiptsKey, ...[...underWay].flatMap((id) => [until, id])).catch(() => undefined);
  }, renewEveryMs);

  // One command each, not a script: the keys live on different nodes of a cluster. The stream comes first.
  const toRedis = (receiptId: string, entry: string) =>
    Promise.all([
      redis.xadd(ledgerStream, '*', 'entry', entry),
      redis.set(receiptKey(receiptId), entry, 'EX', receiptTtlS),
      redis.zrem(pendingReceiptsKey, receiptId),
    ]);

  const replay = async (): Promise<void> => {
    if (!spooled || redis.status !== 'ready') return;
    spooled = false;
    try {
      const count = await spool.replay(async (entries) => {
        for (let at = 0; at < entries.length; at += replayBatch) {
          await Promise.all(entries.slice(at, at + replayBatch).map((entry) => toRedis(idOf(entry), entry)));
        }
      });
      if (count > 0) log.info({ count }, 'receipts from the spool are in the ledger');
    } catch (fault) {
      spooled = true;
      log.warn(
        { fault: fault instanceof Error ? fault.message : String(fault) },
        'the spool could not be replayed; it stays',
      );
    }
  };
  const replayTimer = setInterval(() => void replay(), replayEveryMs);

  const toSpool = async (receiptId: string, entry: string): Promise<void> => {
    try {
      await spool.append(entry);
      spooled = true;
    } catch (fault) {
      log.error(
        { receiptId, fault: fault instanceof Error ? fault.message : String(fault) },
        'a receipt could not be stored anywhere',
      );
    }
  };

  return {
    begin(receiptId, entry) {
      underWay.add(receiptId);
      // Not awaited: both commands are on their way before the provider is asked, and a missing one only costs the
      // degraded receipt of a call whose sidecar dies.
      redis.set(receiptKey(receiptId), entry, 'EX', receiptTtlS).catch(() => undefined);
      redis.zadd(pendingReceiptsKey, now() + pendingLeaseMs, receiptId).catch(() => undefined);
    },
    discard(receiptId) {
      underWay.delete(receiptId);
      redis.unlink(receiptKey(receiptId)).catch(() => undefined);
      redis.zrem(pendingReceiptsKey, receiptId).catch(() => undefined);
    },
    async finish(receiptId, entry) {
      underWay.delete(receiptId);
      try {
        await toRedis(receiptId, entry);
        if (away) log.info('receipts go to Redis again');
        away = false;
      } catch (fault) {
        if (!away)
          log.warn(
            { fault: fault instanceof Error ? fault.message : String(fault) },
            'Redis does not take receipts; they go to the spool',
          );
        away = true;
        await toSpool(receiptId, entry);
      }
    },
    async stop() {
      clearInterval(renew);
      clearInterval(replayTimer);
      await replay();
    },
  };
}
