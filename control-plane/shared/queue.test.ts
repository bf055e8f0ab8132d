import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openQueue } from './queue.ts';

test('whoever waits for Redis is let go when the queue is closed, also between two attempts to connect', async () => {
  const { close, queue } = await openQueue<object>({
    name: 'test',
    redisUrl: '/nowhere/redis.sock',
    worker: {},
    run: () => Promise.resolve(),
  });
  const waiting = queue.getJobSchedulers(0, -1).then(
    () => 'an answer',
    () => 'let go',
  );
  // An attempt fails at once; the pauses between two of them grow by 50 ms each.
  await delay(700);
  await close();
  expect(await Promise.race([waiting, delay(5000, 'still waiting')])).toBe('let go');
});
