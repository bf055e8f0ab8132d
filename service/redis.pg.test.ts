import { once } from 'node:events';
import { emptyValkey } from '@gw/testing/valkey';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { openRedis, untilReady } from './redis.ts';

test('a connection that comes back subscribes to nothing by itself, since nobody would handle that this fails', async () => {
  const url = await emptyValkey();
  const other = new Redis(url);
  const subscriber = openRedis(url, pino({ enabled: false }));
  onTestFinished(() => {
    for (const each of [other, subscriber]) each.disconnect();
  });
  await untilReady(subscriber, 5000);
  await subscriber.subscribe('news');
  expect(await other.pubsub('NUMSUB', 'news')).toEqual(['news', 1]);
  const isBack = once(subscriber, 'ready');
  await other.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await isBack;
  expect(await subscriber.ping()).toBe('PONG');
  expect(await other.pubsub('NUMSUB', 'news')).toEqual(['news', 0]);
});
