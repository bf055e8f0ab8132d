/** Slices of limits on a real Valkey, at one instance and at two. */
import { setTimeout as delay } from 'node:timers/promises';
import { limitKey } from '@gw/contract/internal/redis';
import { hearCommands } from '@gw/testing/commands';
import {
  admittedOf,
  ask,
  drawnOf,
  type LimitersOnValkey,
  limitOf,
  startLimiters,
} from '@gw/testing/ext-authz/limiters';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { DrawnLimits } from './drawn-limits.ts';
import type { Decision, Limiter } from './limiter.ts';

let limiters: LimitersOnValkey;
beforeAll(async () => {
  limiters = await startLimiters();
}, 60_000);
afterAll(() => limiters?.stop());
afterEach(() => limiters.clear());

/** Hardly anything comes back while a test runs. */
const slowly = 0.001;
const largeDay = 1_000_000;

async function inTurn(limiter: Limiter, drawn: DrawnLimits, calls: number): Promise<Decision[]> {
  const decisions: Decision[] = [];
  for (let call = 0; call < calls; call += 1) decisions.push(await ask(limiter, drawn));
  return decisions;
}

/** What Valkey has of a limit: tokens of the bucket, and calls of the day. */
async function kept(name = 'calls') {
  const [tokens, used] = await limiters.redis.hmget(limitKey('a', name), 'b', 'n');
  return { tokens: Math.round(Number(tokens) / 1000), used: Number(used) };
}

async function commandsOf(run: () => Promise<unknown>): Promise<number> {
  const { seen, stop } = await hearCommands(limiters.valkey().url);
  await run();
  const isLast = (words: string) => /^echo/i.test(words);
  await limiters.redis.echo('all of them');
  await expect.poll(() => seen.some(isLast)).toBe(true);
  stop();
  return seen.filter((words) => /^evalsha/i.test(words)).length;
}

test('a busy key asks for several calls at once, and one after the other each is told what is left as if it had asked', async () => {
  const limiter = await limiters.open();
  const drawn = drawnOf(limitOf(slowly, 2000, largeDay));
  await ask(limiter, drawn);
  let decisions: Decision[] = [];
  const commands = await commandsOf(async () => {
    decisions = await inTurn(limiter, drawn, 300);
  });
  expect(commands).toBeLessThan(300);
  expect(decisions.every(({ admitted, lacking }) => admitted && lacking === 0)).toBe(true);
  expect(decisions.map(({ quotaStates: [state] }) => [state?.remaining, state?.remainingDay])).toEqual(
    decisions.map((_, call) => [1998 - call, largeDay - 2 - call]),
  );
});

test('what of a slice is not used is put back, into the bucket and into the day, of an account and of its key', async () => {
  const limiter = await limiters.open();
  const drawn = drawnOf(limitOf(slowly, 2000, largeDay), limitOf(slowly, 1000, largeDay));
  await inTurn(limiter, drawn, 30);
  await expect.poll(() => kept(), { timeout: 5000 }).toEqual({ tokens: 1970, used: 30 });
  expect(await kept('calls:k')).toEqual({ tokens: 970, used: 30 });
});

test('an instance that ends gives back at once what it holds', async () => {
  const limiter = await limiters.open();
  await inTurn(limiter, drawnOf(limitOf(slowly, 2000, largeDay)), 30);
  await limiter.stop();
  expect(await kept()).toEqual({ tokens: 1970, used: 30 });
});

test('limits that were raised meanwhile keep what they have', async () => {
  const limiter = await limiters.open();
  await inTurn(limiter, drawnOf(limitOf(slowly, 600, largeDay)), 30);
  await delay(5);
  await ask(limiter, drawnOf(limitOf(1e9, 1_000_000, largeDay)));
  await limiter.stop();
  expect((await kept()).tokens).toBeGreaterThan(900_000);
  expect((await kept()).used).toBe(31);
});

test('a Valkey that has lost everything meanwhile begins anew, and is given nothing back', async () => {
  const limiter = await limiters.open();
  await inTurn(limiter, drawnOf(limitOf(slowly, 2000, largeDay)), 30);
  await limiters.redis.flushall();
  await limiter.stop();
  expect(await limiters.redis.keys('*')).toEqual([]);
});

test.each([
  ['a small bucket', drawnOf(limitOf(slowly, 300, largeDay))],
  ['a small day', drawnOf(limitOf(slowly, 2000, 10_000))],
  ['a small bucket of the key', drawnOf(limitOf(slowly, 2000), limitOf(slowly, 300))],
  ['a shadow', { ...drawnOf(limitOf(slowly, 2000)), shadow: ['rate'] } satisfies DrawnLimits],
  ['a body that counts', { ...drawnOf(limitOf(slowly, 2000)), body: { limit: limitOf(1, 1_000_000), kib: 64 } }],
])('with %s each call asks for itself', async (_, drawn) => {
  const limiter = await limiters.open();
  await ask(limiter, drawn);
  expect(await commandsOf(() => inTurn(limiter, drawn, 50))).toBe(50);
});

test('where half of the bucket is gone each call asks for itself, down to the last token', async () => {
  const limiter = await limiters.open();
  const drawn = drawnOf(limitOf(slowly, 600));
  const first = await inTurn(limiter, drawn, 310);
  expect(await commandsOf(() => inTurn(limiter, drawn, 100))).toBeGreaterThanOrEqual(95);
  const rest = await inTurn(limiter, drawn, 300);
  expect(admittedOf(first) + 100 + admittedOf(rest)).toBe(600);
  expect(rest.slice(190).every(({ admitted }) => !admitted)).toBe(true);
});

test('two instances, asked for all at once, let in no more than the bucket, and all of it once slices are back', async () => {
  const instances = [await limiters.open({ instances: 2 }), await limiters.open({ instances: 2 })];
  const drawn = [drawnOf(limitOf(slowly, 1000, largeDay)), drawnOf(limitOf(slowly, 1000, largeDay))];
  const askAt = (index: number) => ask(instances[index % 2] as Limiter, drawn[index % 2] as DrawnLimits);
  const decisions: Decision[] = [];
  for (let wave = 0; wave < 30; wave += 1)
    decisions.push(...(await Promise.all(Array.from({ length: 50 }, (_, index) => askAt(index)))));
  expect(admittedOf(decisions)).toBeLessThanOrEqual(1000);
  await delay(250);
  decisions.push(...(await Promise.all(Array.from({ length: 100 }, (_, index) => askAt(index)))));
  expect(admittedOf(decisions)).toBe(1000);
  expect(await kept()).toEqual({ tokens: 0, used: 1000 });
});

test('a slice that comes when nobody waits for it any more is kept or put back, and the call counts once', async () => {
  const limiter = await limiters.open();
  const drawn = drawnOf(limitOf(slowly, 2000, largeDay));
  await inTurn(limiter, drawn, 40);
  await delay(250);
  // Redis answers nobody for longer than it is waited for, and then all.
  await limiters.redis.call('CLIENT', 'PAUSE', '600', 'ALL');
  const decisions = await Promise.all(Array.from({ length: 5 }, () => ask(limiter, drawn)));
  expect(admittedOf(decisions)).toBe(5);
  expect(limiter.local()).toBe(true);
  await expect.poll(() => limiter.local(), { timeout: 5000 }).toBe(false);
  await expect.poll(() => kept(), { timeout: 5000 }).toEqual({ tokens: 1955, used: 45 });
});
