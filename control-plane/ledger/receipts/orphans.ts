/**
 * Keeps receipts in Redis that no sidecar keeps in memory (receipt-sidecar/ledger/committed.ts): those of calls whose sidecar died, which the control
 * plane has closed, or which ext-authz has from Envoy. If Postgres goes back in time they are put in again.
 *
 * Invariant: an entry is kept before it leaves the stream of the ledger. Fails open: the oldest of many are forgotten, and a Redis without memory
 * keeps none.
 */
import { ledgerStream, orphanLedgerStream, receiptTtlS } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';
import { isOutOfMemory } from '../../shared/stream-group.ts';

/** Some 10 to 25 MB. */
const most = 5000;
const batch = 200;

/** Rejects if Redis does not answer. They go an hour after the last one. */
export async function keepOrphans(redis: Redis, entries: readonly Buffer[]): Promise<void> {
  if (entries.length === 0) return;
  const kept = redis.multi();
  for (const entry of entries) kept.xadd(orphanLedgerStream, 'MAXLEN', '~', most, '*', 'entry', entry);
  try {
    await kept.expire(orphanLedgerStream, receiptTtlS).exec();
  } catch (error) {
    if (!isOutOfMemory(error)) throw error;
  }
}

/**
 * Returns how many it has put into the stream of the ledger; what Postgres has is stored once. Those that are kept again meanwhile, since they have
 * been stored again, are not looked at. Rejects if Redis does not answer.
 */
export async function putOrphansAgain(redis: Redis): Promise<number> {
  const [newest] = await redis.xrevrange(orphanLedgerStream, '+', '-', 'COUNT', 1);
  if (newest === undefined) return 0;
  let after = '-';
  for (let count = 0; ; ) {
    const found = await redis.xrangeBuffer(orphanLedgerStream, after, newest[0], 'COUNT', batch);
    const put = redis.multi();
    for (const [, [, entry]] of found) if (entry) put.xadd(ledgerStream, '*', 'entry', entry);
    await put.exec();
    count += found.length;
    const last = found.at(-1)?.[0];
    if (found.length < batch || last === undefined) return count;
    after = `(${last}`;
  }
}
