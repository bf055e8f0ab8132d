/**
 * Closes receipts whose holder died.
 *
 * Invariant: a receipt is closed once, however many instances sweep and even if its holder wakes up meanwhile: the
 * script closes it only if it is still the entry that was read and its lease is still over, by the clock of Redis. Only what a
 * sidecar has sealed is closed, and that it was closed here is sealed with it.
 */
import { ledgerStream, pendingLeaseMs, pendingReceiptsKey, receiptKey, receiptTtlS } from '@gw/contract/internal/redis';
import type { Logger } from '@gw/service/log';
import { redisTime } from '@gw/service/redis';
import type { Redis } from 'ioredis';
import type { Entries } from './entries.ts';
import { refusalOf } from './entry-row.ts';
import { isPlace } from './find-receipt.ts';

/**
 * KEYS: receipt, pending set, ledger stream. ARGV: id, the entry that was read, the closed one or '' if there
 * is nothing to close, seconds to keep. Returns 1 if it closed the receipt.
 */
const closeScript = `
local lease = redis.call('ZSCORE', KEYS[2], ARGV[1])
local time = redis.call('TIME')
if not lease or tonumber(lease) > time[1] * 1000 + time[2] / 1000 then return 0 end
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[2] then return 0 end
redis.call('ZREM', KEYS[2], ARGV[1])
if ARGV[3] == '' then return 0 end
redis.call('SET', KEYS[1], redis.call('XADD', KEYS[3], '*', 'entry', ARGV[3]), 'EX', ARGV[4])
return 1
`;

const batchSize = 100;

export interface SweepOptions {
  readonly redis: Redis;
  readonly log: Logger;
  readonly entries: Entries;
}

/**
 * Returns a sweep that does nothing until one lease after each return of Redis: holders that were also cut off have
 * that long to renew their leases, or to bring what they have on disk.
 */
export function openSweeper(options: SweepOptions, steadyMs = () => performance.now()): () => Promise<void> {
  const { redis } = options;
  let readyAtMs = steadyMs();
  redis.on('ready', () => {
    readyAtMs = steadyMs();
  });
  return async () => {
    if (steadyMs() - readyAtMs >= pendingLeaseMs) await sweepPending(options);
  };
}

/** Closes at most 100 receipts whose lease is over; returns how many it closed. Rejects if Redis is away. */
export async function sweepPending(options: SweepOptions): Promise<number> {
  const { log, redis } = options;
  const now = Math.floor(await redisTime(redis));
  const ids = await redis.zrangebyscore(pendingReceiptsKey, '-inf', now, 'LIMIT', 0, batchSize);
  let count = 0;
  for (const id of ids) {
    const entry = await redis.getBuffer(receiptKey(id));
    const keys = [receiptKey(id), pendingReceiptsKey, ledgerStream];
    const args = [id, entry ?? '', closed(entry, id, options) ?? '', receiptTtlS];
    count += Number(await redis.eval(closeScript, keys.length, ...keys, ...args));
  }
  if (count > 0) log.warn({ closed: count }, 'closed the receipts of a dead sidecar as degraded');
  return count;
}

/**
 * Returns the entry closed and sealed anew, or null if there is nothing to close: it is gone, or no sidecar has written it so, or it is
 * pending no more. The receipt stays as its sidecar has made it for this case.
 */
function closed(entry: Buffer | null, id: string, { entries, log }: SweepOptions): Buffer | null {
  if (entry === null) return null;
  const opened = entries.opener.open(entry);
  if ('entry' in opened) {
    const { state, id: own } = opened.entry;
    return state === 'pending' && own === id ? entries.sealer.again(entry, 'closed') : null;
  }
  // It is the place of one in the stream, if its holder has finished just now.
  if (isPlace(entry)) return null;
  entries.refused(refusalOf[opened.fault]);
  log.error(
    { receiptId: id, fault: opened.fault },
    'the entry of a call of a dead sidecar is not what a sidecar has written',
  );
  return null;
}
