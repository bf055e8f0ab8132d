/** The limiter on a real Valkey, which some of these tests halt, take away and fill up. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from '@gw/cli/services/service';
import { startValkey } from '@gw/cli/services/valkey';
import { limitKey } from '@gw/contract/internal/redis';
import type { Logger } from '@gw/service/log';
import { openRedis } from '@gw/service/redis';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { dayMs, type Limit } from './bucket.ts';
import { onTestClock, setTestClock } from './clock-for-tests.ts';
import type { DrawnLimits } from './drawn-limits.ts';
import { type Decision, type Limiter, openLimiter } from './limiter.ts';
import { settleScript, takeScript } from './take.lua.ts';

const dir = mkdtempSync(join(tmpdir(), 'gwlimiter-'));
const midnight = Date.parse('2026-11-22T00:00:00Z');
let valkey: Service;
let redis: Redis;
let stops: (() => void)[] = [];
let lines: string[] = [];
const log = {
  warn: (_: unknown, line: string) => lines.push(line),
  info: (_: unknown, line: string) => lines.push(line),
} as unknown as Logger;

beforeAll(async () => {
  valkey = await startValkey({ dir, log: () => {} });
  redis = new Redis(valkey.url);
  redis.on('error', () => {});
}, 60_000);
afterAll(async () => {
  redis?.disconnect();
  await valkey?.stop();
  rmSync(dir, { recursive: true, force: true });
});
beforeEach(async () => {
  lines = [];
  await redis.flushall();
});
afterEach(() => {
  for (const stop of stops) stop();
  stops = [];
});

/** As an instance of ext-authz has it. `onClock`: time is what the test sets. */
async function open({ instances = 1, onClock = false, url = valkey.url } = {}): Promise<Limiter> {
  const connection = openRedis(url, log);
  await new Promise((resolve) => connection.once('ready', resolve));
  const limiter = openLimiter({
    redis: connection,
    now: Date.now,
    monotonic: () => performance.now(),
    instances,
    log,
    patienceMs: 250,
    probeMs: 20,
    ...(onClock && { scripts: { take: onTestClock(takeScript), settle: onTestClock(settleScript) } }),
  });
  stops.push(
    () => limiter.stop(),
    () => connection.disconnect(),
  );
  return limiter;
}

const limitOf = (perS: number, burst: number, perDay: number | null = null): Limit => ({
  rate: { perS, burst },
  perDay,
});
const drawnOf = (...limits: Limit[]): DrawnLimits => ({
  levels: limits.map((limit, index) => ({ of: index === 0 ? 'account' : 'key', id: index === 0 ? 'a' : 'k', limit })),
  shadow: [],
});
const ask = (limiter: Limiter, drawn: DrawnLimits, account = 'a') => limiter.decide(account, 'calls', drawn);
const admittedOf = (decisions: readonly Decision[]) => decisions.filter(({ admitted }) => admitted).length;
const isBack = (limiter: Limiter) => expect.poll(() => limiter.local(), { timeout: 10_000 }).toBe(false);

test('of four times the budget, asked for at once at two instances, exactly the budget is admitted', async () => {
  const instances = [await open({ instances: 2 }), await open({ instances: 2 })];
  const budget = 500;
  const drawn = drawnOf(limitOf(1_000_000, 1_000_000, budget));
  const asked = Array.from({ length: 4 * budget }, (_, index) => instances[index % 2] as Limiter);
  const decisions = await Promise.all(asked.map((limiter) => ask(limiter, drawn)));
  expect(admittedOf(decisions)).toBe(budget);
  for (const { admitted, standings } of decisions) if (!admitted) expect(standings[0]?.remainingDay).toBe(0);
  expect(lines).toEqual([]);
});

test('of the budgets of two keys and their account none is overdrawn, at two instances', async () => {
  const instances = [await open({ instances: 2 }), await open({ instances: 2 })];
  const account = limitOf(1_000_000, 1_000_000, 150);
  const decisions = await Promise.all(
    Array.from({ length: 800 }, async (_, index) => {
      const id = index % 4 < 2 ? 'one' : 'two';
      const drawn: DrawnLimits = {
        levels: [
          { of: 'account', id: 'a', limit: account },
          { of: 'key', id, limit: { rate: null, perDay: 100 } },
        ],
        shadow: [],
      };
      return { id, decision: await ask(instances[index % 2] as Limiter, drawn) };
    }),
  );
  const of = (id: string) => admittedOf(decisions.filter((each) => each.id === id).map(({ decision }) => decision));
  expect(of('one') + of('two')).toBe(150);
  expect(Math.max(of('one'), of('two'))).toBeLessThanOrEqual(100);
});

test('the day turns at midnight UTC with requests in flight: each day has its budget, and no request a false wait', async () => {
  const instances = [await open({ onClock: true }), await open({ onClock: true })];
  const drawn = drawnOf(limitOf(1_000_000, 1_000_000, 100));
  await setTestClock(redis, midnight - 1);
  const before = Array.from({ length: 300 }, (_, index) => ask(instances[index % 2] as Limiter, drawn));
  const turned = setTestClock(redis, midnight);
  const after = Array.from({ length: 300 }, (_, index) => ask(instances[index % 2] as Limiter, drawn));
  await turned;
  const decisions = await Promise.all([...before, ...after]);
  const ofDay = (ms: number) => decisions.filter(({ untilMidnightMs }) => untilMidnightMs === ms);
  expect(ofDay(1).length + ofDay(dayMs).length).toBe(600);
  expect(admittedOf(ofDay(1))).toBe(Math.min(100, ofDay(1).length));
  expect(admittedOf(ofDay(dayMs))).toBe(100);
  expect(await redis.hget(limitKey('a', 'calls'), 'n')).toBe('100');
});

test('a decision is one command to Redis, also where a key has limits of its own', async () => {
  const limiter = await open();
  const both = drawnOf(limitOf(1000, 1000, 1000), limitOf(500, 500, 500));
  await ask(limiter, both);
  const observer = redis.duplicate();
  const monitor = await observer.monitor();
  const commands: string[] = [];
  monitor.on('monitor', (_, [command = '']: string[], source: string) => {
    if (source !== 'lua' && command !== 'ping') commands.push(command.toLowerCase());
  });
  for (let asked = 0; asked < 10; asked += 1) await ask(limiter, drawnOf(limitOf(1000, 1000, 1000)));
  for (let asked = 0; asked < 10; asked += 1) await ask(limiter, both);
  await redis.ping();
  await expect.poll(() => commands).toHaveLength(20);
  expect(new Set(commands)).toEqual(new Set(['evalsha']));
  monitor.disconnect();
  observer.disconnect();
});

test('a Redis that hangs is waited for once; the others are decided at once, and counted when it goes on', async () => {
  const limiter = await open();
  const drawn = drawnOf(limitOf(1, 1000, 1000));
  await ask(limiter, drawn);
  process.kill(valkey.pid, 'SIGSTOP');
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
    process.kill(valkey.pid, 'SIGCONT');
  }
  await isBack(limiter);
  const { standings } = await ask(limiter, drawn);
  // The 20 that were given up have reached Redis too, and count twice; none is forgotten.
  expect(standings[0]?.remainingDay).toBeLessThanOrEqual(1000 - 102);
  expect(standings[0]?.remainingDay).toBeGreaterThanOrEqual(1000 - 122);
  expect(lines.filter((line) => line.includes('limits'))).toHaveLength(2);
});

test('through a Redis that is killed and comes back again and again, burst and rate hold', async () => {
  const limiter = await open();
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
    await valkey.stop();
    await expect.poll(() => limiter.local()).toBe(true);
    outages += 1;
    await delay(300);
    valkey = await startValkey({ dir, log: () => {} });
    await isBack(limiter);
  }
  await delay(500);
  isAsking = false;
  await asking;
  const most = 30 + (50 * (Date.now() - began)) / 1000;
  expect(outages).toBe(3);
  expect(admitted).toBeLessThanOrEqual(Math.ceil(most));
  expect(admitted).toBeGreaterThan(most * 0.9);
}, 60_000);

test('several instances without Redis admit together what one limit admits, and Redis counts it afterwards', async () => {
  const instances = await Promise.all(Array.from({ length: 3 }, () => open({ instances: 3 })));
  const drawn = drawnOf(limitOf(1, 100, 90));
  for (const limiter of instances) await ask(limiter, drawn);
  await valkey.stop();
  const decisions = await Promise.all(
    Array.from({ length: 600 }, (_, index) => ask(instances[index % 3] as Limiter, drawn)),
  );
  // 87 were left; each instance rounds its share up.
  expect(admittedOf(decisions)).toBeGreaterThanOrEqual(84);
  expect(admittedOf(decisions)).toBeLessThanOrEqual(90);
  valkey = await startValkey({ dir, log: () => {} });
  for (const limiter of instances) await isBack(limiter);
  const after = await Promise.all(instances.map((limiter) => ask(limiter, drawn)));
  expect(admittedOf(after)).toBeLessThanOrEqual(Math.max(0, 90 - 3 - admittedOf(decisions)));
  expect(Number(await redis.hget(limitKey('a', 'calls'), 'n'))).toBeGreaterThanOrEqual(87);
}, 60_000);

test('a Redis whose machine is gone without a word is left, and the next one under its address is used', async () => {
  let isGone = false;
  const sockets: Socket[] = [];
  const proxy = createServer((client) => {
    const lost = isGone;
    const server = connect(valkey.url);
    sockets.push(client, server);
    // What comes over a lost connection is swallowed; one that is made afterwards works.
    client.on('data', (data) => (isGone && !lost ? undefined : server.write(data)));
    server.on('data', (data) => client.write(data));
    for (const each of [client, server]) each.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const limiter = await open({ url: `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}` });
  const drawn = drawnOf(limitOf(1, 100));
  expect((await ask(limiter, drawn)).standings[0]?.remaining).toBe(99);
  isGone = true;
  expect((await ask(limiter, drawn)).admitted).toBe(true);
  expect(limiter.local()).toBe(true);
  await isBack(limiter);
  expect((await ask(limiter, drawn)).standings[0]?.remaining).toBeLessThanOrEqual(98);
  for (const socket of sockets) socket.destroy();
  proxy.close();
});

test('a Redis that takes no writes decides nothing, and is not asked by each request whether it does', async () => {
  const limiter = await open();
  const drawn = drawnOf(limitOf(1, 5));
  await redis.config('SET', 'maxmemory', '1');
  try {
    const decisions = [];
    for (let asked = 0; asked < 20; asked += 1) decisions.push(await ask(limiter, drawn));
    expect(admittedOf(decisions)).toBe(5);
    await delay(200);
    expect(limiter.local()).toBe(true);
    expect(lines.filter((line) => line.includes('share'))).toHaveLength(1);
  } finally {
    await redis.config('SET', 'maxmemory', '0');
  }
  await isBack(limiter);
  expect((await ask(limiter, drawn)).standings[0]?.remaining).toBe(0);
});
