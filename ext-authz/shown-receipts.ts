/**
 * Receipts that Envoy finished by itself, for the ledger: the sidecar that is told of them too may be the one that died.
 *
 * Fails open: without Redis the word is left to the sidecar, or to the lease that ends.
 */
import { ledgerStream, pendingReceiptsKey, receiptKey, receiptTtlS } from '@gw/contract/internal/redis';
import { accessLogEntries, shownReceipt } from '@gw/envoy/shown-receipt';
import type { StreamAccessLogsMessage } from '@gw/grpc/service';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';

export function noteShownReceipts(message: StreamAccessLogsMessage, redis: Redis, log: Logger): void {
  for (const logged of accessLogEntries(message)) {
    const shown = shownReceipt(logged);
    if (shown === null) continue;
    const { receiptId, entry } = shown;
    Promise.all([
      redis.xadd(ledgerStream, '*', 'entry', entry),
      redis.set(receiptKey(receiptId), entry, 'EX', receiptTtlS),
      redis.zrem(pendingReceiptsKey, receiptId),
    ]).catch(() => log.warn({ receiptId }, 'a receipt that Envoy finished could not be noted here'));
  }
}
