/** The limiter while its Valkey is halted, away, gone or full, and afterwards. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { dayMs } from '@gw/contract/internal/durations';
import { limitKey } from '@gw/contract/internal/redis';
import { forFile } from '@gw/testing/for-file';
import { admittedOf, ask, drawnOf, limitOf, startLimiters } from '@gw/testing/service/limiters';
import { afterEach, expect, test } from 'vitest';
import type { Limiter } from './limiter.ts';

const limiters = forFile(startLimiters);
afterEach(() => limiters.clear());

const isBack = (limiter: Limiter) => expect.poll(() => limiter.local()).toBe(false);

test('a Redis that hangs is waited for once; the others are decided at once, and counted when it goes on', async () => {
  // So rarely that its connection is not given up before Redis goes on.
  const limiter = await limiters.open({ probeMs: 300 });
  const drawn = drawnOf(limitOf(1, 1000, 1000));
  await ask(limiter, drawn);
  process.kill(limiters.valkey().pid, 'SIGSTOP');
  try {
    const began = performance.now();
    const waiting = Array.from({ length: 20 }, () => ask(limiter, drawn));
    await Promise.all(waiting);
    const waitedMs = performance.now() - began;
    expect(waitedMs).toBeGreaterThan(240);
    expect(limiter.local()).toBe(true);
    // Nobody else waits: no timer runs out before these are done.
    let timers = 0;
    const timer = setInterval(() => (timers += 1), 250);
    for (let asked = 0; asked < 80; asked += 1) expect((await ask(limiter, drawn)).admitted).toBe(true);
    clearInterval(timer);
    expect(timers).toBe(0);
  } finally {
    process.kill(limiters.valkey().pid, 'SIGCONT');
  }
  await isBack(limiter);
  const { quotaStates } = await ask(limiter, drawn);
  // The 20 that were given up have reached Redis too, and count once all the same.
  expect(quotaStates[0]?.remainingDay).toBe(1000 - 102);
  expect(limiters.lines.filter((line) => line.includes('limits'))).toHaveLength(2);
});

test('through a Redis that is killed and comes back again and again, burst and rate hold', async () => {
  const limiter = await limiters.open();
  const drawn = drawnOf(limitOf(50, 30));
  const began = Date.now();
  let admitted = 0;
  let isAsking = true;
  const asking = (async () => {
    while (isAsking) {
      admitted += admittedOf(await Promise.all(Array.from({ length: 10 }, () => ask(limiter, drawn))));
      await delay(5);
    }
  })();
  let outages = 0;
  for (let kills = 0; kills < 3; kills += 1) {
    await delay(300);
    await limiters.take();
    await expect.poll(() => limiter.local()).toBe(true);
    outages += 1;
    await delay(300);
    await limiters.bringBack();
    await isBack(limiter);
  }
  await delay(500);
  isAsking = false;
  await asking;
  const most = 30 + (50 * (Date.now() - began)) / 1000;
  expect(outages).toBe(3);
  expect(admitted).toBeLessThanOrEqual(Math.ceil(most));
  // Tokens that nobody asked for while the machine stood still are lost above the burst; but it never was closed for long.
  expect(admitted).toBeGreaterThan(most / 2);
}, 60_000);

test('several instances without Redis admit together what one limit admits, and Redis counts it afterwards', async () => {
  const instances = await Promise.all(Array.from({ length: 3 }, () => limiters.open({ instances: 3 })));
  const drawn = drawnOf(limitOf(1, 100, 90));
  for (const limiter of instances) await ask(limiter, drawn);
  await limiters.take();
  const decisions = await Promise.all(
    Array.from({ length: 600 }, (_, index) => ask(instances[index % 3] as Limiter, drawn)),
  );
  // 87 were left; each instance rounds its share up.
  expect(admittedOf(decisions)).toBeGreaterThanOrEqual(84);
  expect(admittedOf(decisions)).toBeLessThanOrEqual(90);
  await limiters.bringBack();
  for (const limiter of instances) await isBack(limiter);
  // Each tells its own debt before it asks, and knows nothing of those of the others.
  const counted = async () => Number(await limiters.redis.hget(limitKey('a', 'calls'), 'n'));
  await expect.poll(counted).toBe(3 + admittedOf(decisions));
  const after = await Promise.all(instances.map((limiter) => ask(limiter, drawn)));
  expect(admittedOf(after)).toBe(Math.max(0, 90 - 3 - admittedOf(decisions)));
}, 60_000);

test.each([
  ['ahead of', dayMs],
  ['behind', -dayMs],
])(
  'what an instance admitted counts in the day of Redis, also where its clock is a day %s it',
  async (_name, offMs) => {
    const limiter = await limiters.open({ now: () => Date.now() + offMs });
    const drawn = drawnOf(limitOf(1, 1000, 1000));
    await ask(limiter, drawn);
    await limiters.take();
    expect(admittedOf(await Promise.all(Array.from({ length: 14 }, () => ask(limiter, drawn))))).toBe(14);
    await limiters.bringBack();
    await isBack(limiter);
    const { quotaStates } = await ask(limiter, drawn);
    expect(quotaStates[0]?.remainingDay).toBe(1000 - 16);
  },
  60_000,
);

test('a Redis whose machine is gone without a word is left, and the next one under its address is used', async () => {
  let isGone = false;
  const sockets: Socket[] = [];
  const proxy = createServer((client) => {
    const lost = isGone;
    const server = connect(limiters.valkey().url);
    sockets.push(client, server);
    // Data on a lost connection is swallowed; a connection that is made afterwards works.
    client.on('data', (data) => (isGone && !lost ? undefined : server.write(data)));
    server.on('data', (data) => client.write(data));
    for (const each of [client, server]) each.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const limiter = await limiters.open({ url: `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}` });
  const drawn = drawnOf(limitOf(1, 100));
  expect((await ask(limiter, drawn)).quotaStates[0]?.remaining).toBe(99);
  isGone = true;
  expect((await ask(limiter, drawn)).admitted).toBe(true);
  expect(limiter.local()).toBe(true);
  await isBack(limiter);
  expect((await ask(limiter, drawn)).quotaStates[0]?.remaining).toBeLessThanOrEqual(98);
  for (const socket of sockets) socket.destroy();
  proxy.close();
});

test('a Redis that takes no writes decides nothing, and is not asked by each request whether it does', async () => {
  const limiter = await limiters.open();
  const drawn = drawnOf(limitOf(1, 5));
  await limiters.redis.config('SET', 'maxmemory', '1');
  try {
    const decisions = [];
    for (let asked = 0; asked < 20; asked += 1) decisions.push(await ask(limiter, drawn));
    expect(admittedOf(decisions)).toBe(5);
    await delay(200);
    expect(limiter.local()).toBe(true);
    expect(limiters.lines.filter((line) => line.includes('share'))).toHaveLength(1);
  } finally {
    await limiters.redis.config('SET', 'maxmemory', '0');
  }
  await isBack(limiter);
  expect((await ask(limiter, drawn)).quotaStates[0]?.remaining).toBe(0);
});

test('tokens that two instances reserve and settle are what calls used, also through an outage', async () => {
  const instances = await Promise.all([1, 2].map(() => limiters.open({ instances: 2 })));
  const [one, other] = instances as [Limiter, Limiter];
  // So slow a rate shows no refill within the test.
  const limit = { ...limitOf(0.001, 1000, 5000), owes: true };
  const drawn = (cost: number) => ({ ...drawnOf(limit, { ...limit, perDay: null }), cost });
  let account = 'a';
  const take = async (limiter: Limiter, cost: number) => {
    const decidedMs = Date.now();
    const { admitted, lacking, quotaStates } = await limiter.decide(account, 'tokens', drawn(cost));
    const settle = (used: number) =>
      limiter.correct(account, 'tokens', drawn(cost), { lacking, decidedMs }, used - cost);
    return { admitted, settle, left: quotaStates.map(({ remaining }) => remaining), quotaStates };
  };
  const kept = (field: 'b' | 'n') => limiters.redis.hget(limitKey(account, 'tokens'), field).then(Number);
  const counted = () => expect.poll(async () => [Math.round((await kept('b')) / 1000), await kept('n')]);

  const first = await take(one, 600);
  expect((await take(other, 600)).admitted).toBe(false);
  first.settle(100);
  await counted().toEqual([900, 100]);
  const second = await take(other, 300);
  expect(second).toMatchObject({ admitted: true, left: [600, 600] });
  // It used more than it took, and more than there is.
  second.settle(1500);
  await counted().toEqual([-600, 1600]);
  const { quotaStates } = await take(one, 1);
  expect(quotaStates[0]).toMatchObject({ remaining: 0, remainingDay: 3400 });
  expect(quotaStates[0]?.nextTokenMs).toBeGreaterThan(600e6);

  account = 'b';
  const under = await take(one, 400);
  await take(other, 0);
  await limiters.take();
  // Half of the 600 that are left.
  const alone = [await take(one, 200), await take(one, 200)];
  under.settle(50);
  const more = await take(one, 200);
  more.settle(20);
  await limiters.bringBack();
  expect([...alone, more].map(({ admitted }) => admitted)).toEqual([true, false, true]);
  for (const limiter of instances) await isBack(limiter);
  // 200 of a call that nobody settles, which is not given back: it refills.
  await counted().toEqual([1000 - 50 - 200 - 20, 50 + 200 + 20]);
}, 60_000);

test.each([
  ['takes no writes', () => limiters.redis.config('SET', 'maxmemory', '1')],
  ['is away', () => limiters.take()],
])('a Redis that %s says nothing of what is left, and nobody asks it until it is back', async (what, goes) => {
  const limiter = await limiters.open();
  const drawn = drawnOf(limitOf(1, 5, 9));
  await ask(limiter, drawn);
  expect(await limiter.left('a', 'calls', drawn)).toMatchObject({
    admitted: true,
    quotaStates: [{ remaining: 4, remainingDay: 8 }],
  });
  await goes();
  try {
    expect(await limiter.left('a', 'calls', drawn)).toBeNull();
    expect(limiter.local()).toBe(true);
    expect(await limiter.left('a', 'calls', drawn)).toBeNull();
  } finally {
    if (what === 'is away') await limiters.bringBack();
    else await limiters.redis.config('SET', 'maxmemory', '0');
  }
  await isBack(limiter);
  expect((await limiter.left('a', 'calls', drawn))?.quotaStates[0]?.remainingDay).toBeLessThanOrEqual(9);
});
