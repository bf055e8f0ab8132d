/**
 * Closes receipts whose holder died.
 *
 * Invariant: a receipt is closed once, however many instances sweep and even if its holder wakes up meanwhile: the
 * script closes it only if it is still the text that was read and its lease is still over, by the clock of Redis.
 */
import { ledgerEntrySchema } from '@gw/contract/internal/ledger-entry';
import { ledgerStream, pendingLeaseMs, pendingReceiptsKey, receiptKey, receiptTtlS } from '@gw/contract/internal/redis';
import type { Receipt } from '@gw/contract/receipt';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';

/**
 * KEYS: receipt, pending set, ledger stream. ARGV: id, the text that was read, the closed text or '' if there
 * is nothing to close, seconds to keep. Returns 1 if it closed the receipt.
 */
const closeScript = `
local lease = redis.call('ZSCORE', KEYS[2], ARGV[1])
local time = redis.call('TIME')
if not lease or tonumber(lease) > time[1] * 1000 + time[2] / 1000 then return 0 end
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[2] then return 0 end
redis.call('ZREM', KEYS[2], ARGV[1])
if ARGV[3] == '' then return 0 end
redis.call('SET', KEYS[1], ARGV[3], 'EX', ARGV[4])
redis.call('XADD', KEYS[3], '*', 'entry', ARGV[3])
return 1
`;

const batchSize = 100;

/**
 * Returns a sweep that does nothing until one lease after each return of Redis: holders that were also cut off have
 * that long to renew their leases, or to bring what they have on disk.
 */
export function openSweeper(redis: Redis, log: Logger, steadyMs = () => performance.now()): () => Promise<void> {
  let readyAtMs = steadyMs();
  redis.on('ready', () => {
    readyAtMs = steadyMs();
  });
  return async () => {
    if (steadyMs() - readyAtMs >= pendingLeaseMs) await sweepPending(redis, log);
  };
}

/** Closes at most 100 receipts whose lease is over; returns how many it closed. Rejects if Redis is away. */
export async function sweepPending(redis: Redis, log: Logger): Promise<number> {
  const [seconds] = await redis.time();
  const ids = await redis.zrangebyscore(pendingReceiptsKey, '-inf', Number(seconds) * 1000, 'LIMIT', 0, batchSize);
  let closed = 0;
  for (const id of ids) {
    const text = (await redis.get(receiptKey(id))) ?? '';
    const keys = [receiptKey(id), pendingReceiptsKey, ledgerStream];
    const args = [id, text, closedText(text) ?? '', receiptTtlS];
    closed += Number(await redis.eval(closeScript, keys.length, ...keys, ...args));
  }
  if (closed > 0) log.warn({ closed }, 'closed the receipts of a dead sidecar as degraded');
  return closed;
}

/** Returns the entry closed, or null if there is nothing to close: it is gone, unreadable, or no longer pending. */
function closedText(text: string): string | null {
  if (text === '') return null;
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = ledgerEntrySchema.safeParse(raw);
  if (!parsed.success || parsed.data.receipt.status !== 'pending') return null;
  return JSON.stringify({ ...parsed.data, receipt: closeUnattended(parsed.data.receipt) });
}

const unattended =
  'The part of the gateway that measures a call stopped before this call ended, so its energy is not known.';

/** Closes a receipt as degraded. What the holder already wrote is kept. */
function closeUnattended(pending: Receipt): Receipt {
  return {
    ...pending,
    status: 'complete',
    tier: 'degraded',
    degraded_reason: 'sidecar_unavailable',
    explanation: pending.explanation ?? unattended,
    recalculable: pending.recalculable ?? false,
  };
}
