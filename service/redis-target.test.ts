import { expect, test, vi } from 'vitest';
import { openLog } from './log.ts';
import { openRedisWriter } from './redis-writer.ts';

test('an address without a route is tried again, and its error, which comes at once, is heard', async () => {
  const unheard: unknown[] = [];
  const note = (error: unknown) => void unheard.push(error);
  process.on('uncaughtException', note);
  const warn = vi.fn();
  const log = { ...openLog('test', 'silent'), warn } as unknown as ReturnType<typeof openLog>;
  // Broadcasts take no connections, so the system refuses it in the same turn.
  const writer = openRedisWriter({ url: 'redis://255.255.255.255:6379', log, commandTimeoutMs: 1000 });
  await new Promise((resolve) => setTimeout(resolve, 500));
  writer.stop();
  process.off('uncaughtException', note);
  expect(warn).toHaveBeenCalledTimes(1);
  expect([writer.isReady(), unheard]).toEqual([false, []]);
});
