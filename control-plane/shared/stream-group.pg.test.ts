import { setTimeout as delay } from 'node:timers/promises';
import { emptyValkey } from '@gw/testing/valkey';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { streamGroup } from './stream-group.ts';

const group = streamGroup({ stream: 'stream', group: 'group', field: 'field' });
let redis: Redis;
beforeAll(async () => {
  redis = new Redis(await emptyValkey());
});
afterAll(() => redis?.disconnect());
beforeEach(async () => {
  await redis.flushall();
  await group.ensure(redis);
});
const consumers = async () => ((await redis.xinfo('CONSUMERS', 'stream', 'group')) as unknown[]).length;
/** It knows the consumer, and has nothing pending for it. */
const wasHere = async (consumer: string) => {
  await group.readNew(redis, consumer, 1);
  await delay(2);
};

test('consumers that were silent for long and left nothing behind are forgotten, all others stay', async () => {
  await redis.xadd('stream', '*', 'field', 'text');
  for (const name of ['holds', 'silent', 'asks']) await wasHere(name);
  await group.claimAbandoned(redis, 'asks', 60_000, 10);
  expect(await consumers()).toBe(3);
  await redis.xgroup('CREATECONSUMER', 'stream', 'group', 'asks');
  await group.claimAbandoned(redis, 'asks', 0, 10);
  expect(await consumers()).toBe(1);
  expect(await group.readOwn(redis, 'asks', 10)).toMatchObject([{ bytes: Buffer.from('text') }]);
});

test.each([0, 1, 2])(
  'what a silent consumer reads at last stays pending, before command %i of another that forgets the silent ones',
  async (at) => {
    await wasHere('silent');
    await redis.xadd('stream', '*', 'field', 'text');
    let commands = 0;
    const racing = new Proxy(redis, {
      get:
        (target, name) =>
        async (...args: unknown[]) => {
          if (commands++ === at) await group.readNew(redis, 'silent', 1);
          return Reflect.apply(Reflect.get(target, name), target, args);
        },
    });
    await group.claimAbandoned(racing, 'other', 0, 10);
    await group.readNew(redis, 'silent', 1);
    const [pending] = await redis.xpending('stream', 'group');
    expect(pending).toBe(1);
  },
);

test('what was taken out leaves neither an entry nor a pending one, also if its consumer died in the midst of that', async () => {
  for (let n = 0; n < 300; n++) await redis.xadd('stream', '*', 'field', `text ${n}`);
  const read = await group.readNew(redis, 'dies', 300);
  const ids = read.map(({ streamId }) => streamId);
  await group.takeOut(redis, ids.slice(0, 200));
  expect([await redis.xlen('stream'), (await redis.xpending('stream', 'group'))[0]]).toEqual([100, 100]);
  // It has deleted them and does not come to acknowledge them.
  await redis.xdel('stream', ...ids.slice(200));
  await group.claimAbandoned(redis, 'other', 0, 300);
  const left = await group.readOwn(redis, 'other', 300);
  await group.takeOut(
    redis,
    left.map(({ streamId }) => streamId),
  );
  expect([await redis.xlen('stream'), (await redis.xpending('stream', 'group'))[0]]).toEqual([0, 0]);
});
