/** The limiter on a real Valkey: exact over instances, keys and days, with one command for each decision. */
import { dayMs } from '@gw/contract/internal/durations';
import { limitKey } from '@gw/contract/internal/redis';
import { hearCommands } from '@gw/testing/commands';
import { forFile } from '@gw/testing/for-file';
import { setTestClock } from '@gw/testing/service/clock';
import { admittedOf, ask, drawnOf, limitOf, startLimiters } from '@gw/testing/service/limiters';
import { afterEach, expect, test } from 'vitest';
import type { DrawnLimits } from './drawn-limits.ts';
import type { Limiter } from './limiter.ts';

const midnight = Date.parse('2026-11-22T00:00:00Z');
const limiters = forFile(startLimiters);
afterEach(() => limiters.clear());
/** On a busy machine hundreds of calls at once take longer than a service would wait for one. */
const patient = { instances: 2, patienceMs: 30_000 };

test('of four times the budget, asked for at once at two instances, exactly the budget is admitted', async () => {
  const instances = [await limiters.open(patient), await limiters.open(patient)];
  const budget = 500;
  const drawn = drawnOf(limitOf(1_000_000, 1_000_000, budget));
  const asked = Array.from({ length: 4 * budget }, (_, index) => instances[index % 2] as Limiter);
  const decisions = await Promise.all(asked.map((limiter) => ask(limiter, drawn)));
  expect(admittedOf(decisions)).toBe(budget);
  for (const { admitted, quotaStates } of decisions) if (!admitted) expect(quotaStates[0]?.remainingDay).toBe(0);
  expect(limiters.lines).toEqual([]);
});

test('of the budgets of two keys and their account none is overdrawn, at two instances', async () => {
  const instances = [await limiters.open(patient), await limiters.open(patient)];
  const account = limitOf(1_000_000, 1_000_000, 150);
  const decisions = await Promise.all(
    Array.from({ length: 800 }, async (_, index) => {
      const id = index % 4 < 2 ? 'one' : 'two';
      const drawn: DrawnLimits = {
        levels: [
          { of: 'account', id: 'a', limit: account },
          { of: 'key', id, limit: { rate: null, perDay: 100 } },
        ],
        body: null,
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
  const options = { ...patient, instances: 1, onClock: true };
  const instances = [await limiters.open(options), await limiters.open(options)];
  const drawn = drawnOf(limitOf(1_000_000, 1_000_000, 100));
  await setTestClock(limiters.redis, midnight - 1);
  const before = Array.from({ length: 300 }, (_, index) => ask(instances[index % 2] as Limiter, drawn));
  const turned = setTestClock(limiters.redis, midnight);
  const after = Array.from({ length: 300 }, (_, index) => ask(instances[index % 2] as Limiter, drawn));
  await turned;
  const decisions = await Promise.all([...before, ...after]);
  const ofDay = (ms: number) => decisions.filter(({ untilMidnightMs }) => untilMidnightMs === ms);
  expect(ofDay(1).length + ofDay(dayMs).length).toBe(600);
  expect(admittedOf(ofDay(1))).toBe(Math.min(100, ofDay(1).length));
  // The three connections are heard in any order, so the clock may have turned behind nearly all of the requests.
  const rest = await Promise.all(Array.from({ length: 100 }, () => ask(instances[0] as Limiter, drawn)));
  expect(admittedOf([...ofDay(dayMs), ...rest])).toBe(100);
  expect(await limiters.redis.hget(limitKey('a', 'calls'), 'n')).toBe('100');
});

const withBody = (drawn: DrawnLimits, kib: number): DrawnLimits => ({
  ...drawn,
  body: { limit: limitOf(1, 100 * 1024), kib },
});

test('two instances let in as many bytes as one bucket holds, and the calls that they refuse take from no limit', async () => {
  const instances = [await limiters.open(patient), await limiters.open(patient)];
  const calls = drawnOf(limitOf(1, 1000, 1000), limitOf(1, 1000, 1000));
  const kibs = Array.from({ length: 300 }, (_, index) => [0, 1024, 2048][index % 3] ?? 0);
  const decisions = await Promise.all(
    kibs.map(async (kib, index) => {
      const drawn = kib === 0 ? calls : withBody(calls, kib);
      return { kib, decision: await ask(instances[index % 2] as Limiter, drawn) };
    }),
  );
  const admitted = decisions.filter(({ decision }) => decision.admitted);
  const kib = admitted.reduce((sum, each) => sum + each.kib, 0);
  expect(kib).toBeGreaterThan(98 * 1024);
  expect(kib).toBeLessThanOrEqual(100 * 1024);
  expect(admitted.filter((each) => each.kib === 0)).toHaveLength(100);
  for (const key of ['calls', 'calls:k'])
    expect(await limiters.redis.hget(limitKey('a', key), 'n')).toBe(String(admitted.length));
});

test('a Redis that has forgotten its scripts goes on with what it has counted', async () => {
  const limiter = await limiters.open();
  const drawn = drawnOf(limitOf(1000, 1000, 1000));
  await ask(limiter, drawn);
  await limiters.redis.script('FLUSH');
  const { quotaStates } = await ask(limiter, drawn);
  expect(quotaStates[0]?.remainingDay).toBe(998);
  expect(limiter.local()).toBe(false);
});

test('a decision is one command to Redis, even where a key has limits of its own and a body counts', async () => {
  const limiter = await limiters.open();
  const both = drawnOf(limitOf(1000, 1000, 1000), limitOf(500, 500, 500));
  await ask(limiter, both);
  const { seen, stop } = await hearCommands(limiters.valkey().url);
  const commands = () => seen.map((words) => words.toLowerCase().split(' ')[0]).filter((command) => command !== 'ping');
  for (let asked = 0; asked < 10; asked += 1) await ask(limiter, drawnOf(limitOf(1000, 1000, 1000)));
  for (let asked = 0; asked < 10; asked += 1) await ask(limiter, both);
  for (let asked = 0; asked < 10; asked += 1) await ask(limiter, withBody(both, 1024));
  await limiters.redis.ping();
  await expect.poll(commands).toHaveLength(30);
  expect(new Set(commands())).toEqual(new Set(['evalsha']));
  stop();
});
