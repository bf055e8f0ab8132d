import { ledgerStream } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';
import { expect, test, vi } from 'vitest';
import { openStoreClock } from './store-clock.ts';

test('of a Cluster the clock is that of the node with the ledger, whatever the clocks of the others say', async () => {
  const here = Math.floor(Date.now() / 1000);
  const time = (aheadS: number) => [String(here + aheadS), '0'];
  // A node of a random slot answers what names no key.
  const anyTime = vi.fn(async () => time(-90));
  const evaluate = async (_script: string, _keys: number, key: string) => time(key === ledgerStream ? 3600 : -90);
  const redis = { status: 'ready', on: vi.fn(), off: vi.fn(), time: anyTime, eval: evaluate } as unknown as Redis;
  const clock = openStoreClock(redis);
  await expect.poll(() => Math.round(clock.now() / 1000) - here).toBeGreaterThanOrEqual(3600);
  expect(anyTime).not.toHaveBeenCalled();
  clock.stop();
});
