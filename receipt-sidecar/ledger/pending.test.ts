import { pendingReceiptsKey, receiptKey, receiptTtlS } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openPendingReceipts } from './pending.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a call of more than an hour keeps its lease and its text, until it ends', async () => {
  const set = vi.fn(async (..._: unknown[]) => 'OK');
  const zadd = vi.fn(async (..._: unknown[]) => 1);
  const redis = { set, zadd } as unknown as Redis;
  const pending = openPendingReceipts({ redis, now: Date.now, isAway: () => false });
  pending.add('rcpt', '{}');
  for (let half = 0; half < 4; half += 1) {
    set.mockClear();
    zadd.mockClear();
    await vi.advanceTimersByTimeAsync((receiptTtlS * 1000) / 2);
    expect(set).toHaveBeenCalledWith(receiptKey('rcpt'), '{}', 'EX', receiptTtlS);
    expect(zadd.mock.calls.length).toBeGreaterThan(100);
    expect(zadd.mock.calls[0]?.[0]).toBe(pendingReceiptsKey);
  }
  pending.remove('rcpt');
  zadd.mockClear();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(zadd).not.toHaveBeenCalled();
  pending.stop();
});
