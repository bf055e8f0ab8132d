import { setImmediate as turn } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Spool } from './spool.ts';
import { type LedgerWriter, openLedgerWriter } from './writer.ts';

const silent = (): Promise<never> => new Promise(() => undefined);
/** As a server that stands still: it takes each command and answers none. */
const stillRedis = () => {
  const xadd = vi.fn(silent);
  const ping = vi.fn<() => Promise<unknown>>(silent);
  const redis = { status: 'ready', xadd, set: silent, zadd: silent, zrem: silent, unlink: silent, ping };
  return { redis: redis as unknown as Redis, xadd, ping };
};
const entry = (id: string) => JSON.stringify({ receipt: { id } });

let append: ReturnType<typeof vi.fn<Spool['append']>>;
let xadd: ReturnType<typeof stillRedis>['xadd'];
let ping: ReturnType<typeof stillRedis>['ping'];
let writer: LedgerWriter;
/** What `finish` said so far, by id. */
let said: Map<string, boolean>;
const finish = (id: string): void => {
  void writer.finish(id, entry(id)).then((safe) => said.set(id, safe));
};

async function advance(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await turn();
}

beforeEach(() => {
  // Turns of the event loop stay real.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] });
  said = new Map();
  append = vi.fn<Spool['append']>(silent);
  const still = stillRedis();
  xadd = still.xadd;
  ping = still.ping;
  const spool: Spool = { append, replay: () => Promise.resolve(0) };
  writer = openLedgerWriter({ redis: still.redis, spool, now: Date.now, log: pino({ level: 'silent' }) });
});
afterEach(() => {
  vi.useRealTimers();
});

test('a reply waits 250 ms for both stores together: 150 for Redis, the rest for the disk', async () => {
  finish('a');
  await advance(149);
  expect(append).not.toHaveBeenCalled();
  await advance(1);
  expect(append).toHaveBeenCalledOnce();
  await advance(99);
  expect(said.size).toBe(0);
  await advance(1);
  expect(said).toEqual(new Map([['a', false]]));
});

test('a disk that takes the receipt before the 250 ms are over makes it safe', async () => {
  append.mockImplementation(() => new Promise((resolve) => setTimeout(resolve, 95)));
  finish('a');
  await advance(245);
  expect(said).toEqual(new Map([['a', true]]));
});

test('once Redis is known to be away the disk has all of the 250 ms', async () => {
  append.mockImplementation(() => new Promise((resolve) => setTimeout(resolve, 245)));
  finish('a');
  await advance(250);
  expect(said).toEqual(new Map([['a', false]]));
  await advance(240);
  finish('b');
  await advance(245);
  expect(said.get('b')).toBe(true);
  expect(xadd).toHaveBeenCalledOnce();
});

test('a Redis that answers more slowly than a write waits for it is not taken for one that is back', async () => {
  finish('a');
  await advance(250);
  ping.mockImplementation(() => new Promise((resolve) => setTimeout(resolve, 200)));
  await advance(2000);
  finish('b');
  await advance(1);
  expect(append).toHaveBeenCalledTimes(1);
  expect(xadd).toHaveBeenCalledOnce();
  ping.mockImplementation(() => Promise.resolve());
  await advance(2000);
  finish('c');
  expect(xadd).toHaveBeenCalledTimes(2);
});
