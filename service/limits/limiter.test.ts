/** The limiter on a Cluster of which one node does not answer. */
import { drawnOf, limitOf } from '@gw/testing/service/limiters';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Command, Reply } from '../redis-writer.ts';
import { openLimiter } from './limiter.ts';

const lost = 'account-of-the-lost-node';
const drawn = drawnOf(limitOf(10, 10, 10));

test('limits are local until the node that failed answers, whatever the other nodes do', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let isLost = true;
  const send = async (...commands: readonly Command[]): Promise<readonly Reply[]> => {
    if (isLost && commands.some((command) => command.join(' ').includes(`{${lost}}`))) throw new Error('CLUSTERDOWN');
    return commands.map(() => [0, Date.now(), 5000, 1]);
  };
  const limiter = openLimiter({
    redis: { send, renew: () => undefined },
    now: Date.now,
    monotonic: Date.now,
    instances: 1,
    log: pino({ level: 'silent' }),
    patienceMs: 250,
    probeMs: 100,
  });
  onTestFinished(limiter.stop);
  await limiter.decide('another', 'calls', drawn);
  expect(limiter.local()).toBe(false);
  await limiter.decide(lost, 'calls', drawn);
  await vi.advanceTimersByTimeAsync(5000);
  expect(limiter.local()).toBe(true);
  isLost = false;
  await vi.advanceTimersByTimeAsync(200);
  expect(limiter.local()).toBe(false);
});
