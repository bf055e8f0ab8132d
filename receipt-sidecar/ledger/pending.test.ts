import { pendingReceiptsKey, receiptKey, receiptTtlS } from '@gw/contract/internal/redis';
import type { Command } from '@gw/service/redis-writer';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openPendingReceipts } from './pending.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const entry = Buffer.from('sealed');
let sent: Command[] = [];
const send = async (...commands: Command[]) => {
  sent.push(...commands);
  return [];
};
const named = (name: string) => sent.filter((command) => command[0] === name);
const writes = { send, isReady: () => true, untilReady: async () => undefined, stop: () => undefined };

test('while Redis is away nothing piles up for it, and what began meanwhile is marked when it is back', async () => {
  sent = [];
  let away = true;
  const pending = openPendingReceipts({ writes, now: Date.now, isAway: () => away });
  pending.add('rcpt', entry);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent).toEqual([]);
  away = false;
  pending.markAll();
  expect(sent.map(([name]) => name)).toEqual(['SET', 'ZADD']);
  pending.stop();
});

test('a call of more than an hour keeps its lease and its text, until it ends', async () => {
  const pending = openPendingReceipts({ writes, now: Date.now, isAway: () => false });
  pending.add('rcpt', entry);
  for (let half = 0; half < 4; half += 1) {
    sent = [];
    await vi.advanceTimersByTimeAsync((receiptTtlS * 1000) / 2);
    expect(named('SET')).toContainEqual(['SET', receiptKey('rcpt'), entry, 'EX', String(receiptTtlS)]);
    expect(named('ZADD').length).toBeGreaterThan(100);
    expect(named('ZADD')[0]?.[1]).toBe(pendingReceiptsKey);
  }
  pending.remove('rcpt');
  sent = [];
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent).toEqual([]);
  pending.stop();
});
