/**
 * Holds the script in Valkey and the arithmetic in memory together: the same requests get the same decisions.
 *
 * Time is that of the tests: the script reads it from a key instead of asking Valkey for it.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { dayMs, hourMs } from '@gw/contract/internal/durations';
import { cases } from '@gw/testing/cases';
import { onTestClock, setTestClock } from '@gw/testing/service/clock';
import { emptyValkey } from '@gw/testing/valkey';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { giveBackDayUnit } from '../day-unit.ts';
import { advance, everyLimit, fullState, type Limit, type LimitState, quotaStateOf, takeTogether } from './bucket.ts';
import { leftScript, settleScript, takeScript } from './take.lua.ts';

const keys = ['gw:limit:{a}:calls', 'gw:limit:{a}:calls:key', 'gw:limit:{a}:calls:bytes'] as const;
const morning = Date.parse('2026-11-21T09:00:00Z');
let redis: Redis;

beforeAll(async () => {
  redis = new Redis(await emptyValkey());
}, 60_000);
afterAll(() => redis?.disconnect());
beforeEach(() => redis.flushall());

interface ScriptDecision {
  readonly lacking: number;
  readonly atMs: number;
  readonly left: readonly Pick<LimitState, 'milliTokens' | 'used'>[];
}

/** `cost`: what is taken of the last limit; undefined: one, as of the others. */
async function take(limits: readonly Limit[], shadow = 0, script = takeScript, cost?: number): Promise<ScriptDecision> {
  const costOf = (at: number) => (at === limits.length - 1 ? (cost ?? 1) : 1);
  const args = limits.flatMap(({ perDay, rate }, at) => [rate?.perS ?? 0, rate?.burst ?? 0, perDay ?? -1, costOf(at)]);
  const bits = [shadow & everyLimit.rate ? 1 : 0, shadow & everyLimit.day ? 1 : 0];
  const named = cost === undefined ? keys.slice(0, limits.length) : [...keys.slice(0, limits.length - 1), keys[2]];
  const reply = await redis.eval(script, limits.length, ...named, ...bits, ...args);
  const [lacking = -1, atMs = 0, ...left] = reply as number[];
  const states = limits.map((_, i) => ({ milliTokens: left[2 * i] ?? -1, used: left[2 * i + 1] ?? -1 }));
  return { lacking, atMs, left: states };
}

/** With the clock standing at `nowMs`. */
async function takeAt(nowMs: number, limits: readonly Limit[], shadow = 0, cost?: number): Promise<ScriptDecision> {
  await setTestClock(redis, nowMs);
  return take(limits, shadow, onTestClock(takeScript), cost);
}

const rate = fc.record({ perS: fc.integer({ min: 1, max: 2000 }), burst: fc.integer({ min: 1, max: 40 }) });
const perDay = fc.option(fc.integer({ min: 1, max: 60 }), { nil: null });
const account: fc.Arbitrary<Limit> = fc.record({ rate, perDay });
const ofKey: fc.Arbitrary<Limit> = fc.record({ rate: fc.option(rate, { nil: null }), perDay });
const drawn = fc.oneof(
  account.map((limit) => [limit]),
  fc.tuple(account, ofKey),
);
const shadows = fc.constantFrom(0, everyLimit.rate, everyLimit.day, everyLimit.rate | everyLimit.day);
/** Forwards by little, by much, and over days; backwards as after a change of the server. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 40 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 2 * dayMs }) },
  { weight: 1, arbitrary: fc.integer({ min: -5000, max: 0 }) },
);

describe('the script and the arithmetic', () => {
  test('decide the same for any sequence of requests, of one limit or two, enforced or in shadow', async () => {
    await fc.assert(
      fc.asyncProperty(drawn, fc.array(fc.tuple(step, shadows), { maxLength: 60 }), async (limits, calls) => {
        await redis.flushall();
        let nowMs = morning;
        const levels = limits.map((limit) => ({ limit, state: fullState(limit, nowMs) }));
        for (const [stepMs, shadow] of calls) {
          nowMs += stepMs;
          const taken = await takeAt(nowMs, limits, shadow);
          const lacking = takeTogether(levels, shadow, nowMs);
          expect(taken.lacking).toBe(lacking);
          expect(taken.atMs).toBe(nowMs);
          const left = levels.map(({ limit, state: { milliTokens, used } }) => ({
            milliTokens: limit.rate ? milliTokens : 0,
            used,
          }));
          expect(taken.left).toEqual(left);
        }
      }),
      { numRuns: cases(1000, 30) },
    );
  });
});

describe('what is left', () => {
  const left = async (limits: readonly Limit[]) => {
    const args = limits.flatMap(({ rate }) => [rate?.perS ?? 0, rate?.burst ?? 0]);
    return redis.eval(onTestClock(leftScript), limits.length, ...keys.slice(0, limits.length), ...args);
  };

  test('is what the next request would find, and reading it takes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(drawn, fc.array(step, { maxLength: 20 }), async (limits, steps) => {
        await redis.flushall();
        let nowMs = morning;
        const levels = limits.map((limit) => ({ limit, state: fullState(limit, nowMs) }));
        for (const stepMs of steps) {
          nowMs += stepMs;
          await setTestClock(redis, nowMs);
          for (const { limit, state } of levels) advance(state, limit, nowMs);
          const expected = levels.flatMap(({ limit, state }) => [limit.rate ? state.milliTokens : 0, state.used]);
          for (const _ of [1, 2]) expect(await left(limits)).toEqual([0, nowMs, ...expected]);
          takeTogether(levels, 0, nowMs);
          await takeAt(nowMs, limits);
        }
      }),
      { numRuns: cases(300, 20) },
    );
  });
});

describe('the bucket of bytes', () => {
  const bucket = fc.record({ perS: fc.integer({ min: 1, max: 4096 }), burst: fc.integer({ min: 1000, max: 300_000 }) });
  const body = fc.option(fc.integer({ min: 64, max: 16_384 }), { nil: 0 });

  test('is drawn on together with the calls, the same in the script and in the arithmetic', async () => {
    const call = fc.tuple(step, shadows, body);
    await fc.assert(
      fc.asyncProperty(drawn, bucket, fc.array(call, { maxLength: 60 }), async (calls, bytes, asked) => {
        await redis.flushall();
        let nowMs = morning;
        const ofCalls = calls.map((limit) => ({ limit, state: fullState(limit, nowMs) }));
        const ofBytes = { rate: bytes, perDay: null };
        const bytesState = fullState(ofBytes, nowMs);
        for (const [stepMs, shadow, kib] of asked) {
          nowMs += stepMs;
          const levels = kib > 0 ? [...ofCalls, { limit: ofBytes, state: bytesState, cost: kib }] : ofCalls;
          const before = levels.map(({ state }) => state.used);
          const taken = await takeAt(
            nowMs,
            levels.map(({ limit }) => limit),
            shadow,
            kib > 0 ? kib : undefined,
          );
          const lacking = takeTogether(levels, shadow, nowMs);
          expect(taken.lacking).toBe(lacking);
          expect(taken.left.map(({ milliTokens }) => milliTokens)).toEqual(
            levels.map(({ limit, state }) => (limit.rate ? state.milliTokens : 0)),
          );
          if ((lacking & ~shadow) !== 0 && nowMs >= morning)
            for (const [index, { state }] of levels.entries())
              expect(state.used === before[index] || state.used === 0).toBe(true);
        }
      }),
      { numRuns: cases(1000, 30) },
    );
  });

  test('lets in whoever waits as long as it says, and not a millisecond earlier', async () => {
    const limits: Limit[] = [
      { rate: { perS: 1000, burst: 1000 }, perDay: null },
      { rate: { perS: 16_384, burst: 20_480 }, perDay: null },
    ];
    expect((await takeAt(morning, limits, 0, 16_384)).lacking).toBe(0);
    const { lacking, left } = await takeAt(morning, limits, 0, 10_240);
    expect(lacking).toBe(4);
    const { nextTokenMs } = quotaStateOf(limits[1] as Limit, left[1] ?? { milliTokens: 0, used: 0 }, 10_240);
    expect(nextTokenMs).toBe(375);
    expect((await takeAt(morning + 374, limits, 0, 10_240)).lacking).toBe(4);
    expect((await takeAt(morning + 375, limits, 0, 10_240)).lacking).toBe(0);
    expect(left[0]).toEqual({ milliTokens: 999_000, used: 1 });
  });
});

describe('the script', () => {
  test('lets in whoever waits as long as its reply says, and not a millisecond earlier', async () => {
    await fc.assert(
      fc.asyncProperty(drawn, fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 30 }), async (limits, pauses) => {
        await redis.flushall();
        let nowMs = morning;
        for (const pause of pauses) {
          nowMs += pause;
          const { lacking, left } = await takeAt(nowMs, limits);
          if (lacking === 0) continue;
          const isDay = (lacking & everyLimit.day) !== 0;
          const waits = limits.map((limit, index) => quotaStateOf(limit, left[index] ?? { milliTokens: 0, used: 0 }));
          const waitMs = isDay ? dayMs - (nowMs % dayMs) : Math.max(...waits.map(({ nextTokenMs }) => nextTokenMs));
          expect((await takeAt(nowMs + waitMs - 1, limits)).lacking).not.toBe(0);
          nowMs += waitMs;
          expect((await takeAt(nowMs, limits)).lacking).toBe(0);
        }
      }),
      { numRuns: cases(600, 20) },
    );
  });

  test('admits the burst at once, then at the rate, on the clock of Valkey', async () => {
    const limit: Limit = { rate: { perS: 5, burst: 10 }, perDay: null };
    const taken: ScriptDecision[] = [];
    for (let asked = 0; asked < 400 && (taken.at(-1)?.atMs ?? 0) - (taken[0]?.atMs ?? 0) < 500; asked += 1) {
      taken.push(await take([limit]));
      await delay(2);
    }
    const spanMs = (taken.at(-1)?.atMs ?? 0) - (taken[0]?.atMs ?? 0);
    expect(taken.slice(0, 10).every(({ lacking }) => lacking === 0)).toBe(true);
    const admitted = taken.filter(({ lacking }) => lacking === 0).length;
    // After a pause of this process there is something left to take, but never as much as the burst.
    const left = Math.floor((taken.at(-1)?.left[0]?.milliTokens ?? 0) / 1000);
    expect(admitted + left).toBe(10 + Math.floor((spanMs * 5) / 1000));
  });

  test('admits a day budget and no more, however many ask at once', async () => {
    const limit: Limit = { rate: { perS: 1000, burst: 1000 }, perDay: 25 };
    const taken = await Promise.all(Array.from({ length: 100 }, () => take([limit])));
    expect(taken.filter(({ lacking }) => lacking === 0)).toHaveLength(25);
    expect(taken.filter(({ lacking }) => lacking === 2)).toHaveLength(75);
  });

  test.each([
    [
      'the rate of the account',
      [
        { rate: { perS: 1, burst: 3 }, perDay: 100 },
        { rate: null, perDay: 100 },
      ],
      1,
    ],
    [
      'the day of the account',
      [
        { rate: { perS: 1, burst: 100 }, perDay: 3 },
        { rate: null, perDay: 100 },
      ],
      2,
    ],
    [
      'the rate of the key',
      [
        { rate: { perS: 1, burst: 100 }, perDay: 100 },
        { rate: { perS: 1, burst: 3 }, perDay: null },
      ],
      4,
    ],
    [
      'the day of the key',
      [
        { rate: { perS: 1, burst: 100 }, perDay: 100 },
        { rate: null, perDay: 3 },
      ],
      8,
    ],
  ] as const)('refused by %s, a request takes from no limit', async (_, limits, bit) => {
    for (let asked = 0; asked < 3; asked += 1) expect((await takeAt(morning, limits)).lacking).toBe(0);
    const { left } = await takeAt(morning, limits);
    for (let asked = 0; asked < 20; asked += 1) expect((await takeAt(morning, limits)).lacking).toBe(bit);
    expect((await takeAt(morning, limits)).left).toEqual(left);
    expect(left.map(({ used }) => used)).toEqual([3, 3]);
  });

  test('lets a limit in shadow refuse nothing and owe nothing: enforced, it admits what it would have admitted', async () => {
    const limits: Limit[] = [{ rate: { perS: 10, burst: 5 }, perDay: 7 }];
    const both = everyLimit.rate | everyLimit.day;
    const lacks = [];
    for (let asked = 0; asked < 50; asked += 1) lacks.push((await takeAt(morning, limits, both)).lacking);
    expect(lacks.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
    expect(lacks.at(-1)).toBe(3);
    expect((await takeAt(morning, limits, both)).left).toEqual([{ milliTokens: 0, used: 7 }]);
    expect((await takeAt(morning + 100, [{ ...limits[0], rate: { perS: 10, burst: 5 }, perDay: 8 }])).lacking).toBe(0);
  });

  test('keeps a spent day through the day, forgets it two days later, and begins the next one anew', async () => {
    const limits: Limit[] = [{ rate: { perS: 10, burst: 10 }, perDay: 1 }];
    const midnight = morning + 15 * hourMs;
    await takeAt(morning, limits);
    expect((await takeAt(midnight - 1, limits)).lacking).toBe(2);
    const ttl = await redis.ttl(keys[0]);
    expect(ttl).toBeGreaterThan(dayMs / 1000);
    expect(ttl).toBeLessThanOrEqual((2 * dayMs) / 1000);
    expect(await takeAt(midnight, limits)).toMatchObject({ lacking: 0, left: [{ used: 1 }] });
    // The clock of another server, a little behind, does not open the new day once more.
    expect((await takeAt(midnight - 20, limits)).lacking).toBe(2);
    expect((await takeAt(midnight + 1, limits)).lacking).toBe(2);
  });

  test('counts what was admitted while it was not asked, and nothing of another day', async () => {
    const limit: Limit = { rate: { perS: 10, burst: 20 }, perDay: 100 };
    const settle = (tokens: number, used: number, daysAgo: number, owes = 0) =>
      redis.eval(onTestClock(settleScript), 1, keys[0], 10, 20, tokens * 1000, used, daysAgo, owes);
    await takeAt(morning, [limit]);
    await settle(8, 8, 0);
    expect((await takeAt(morning, [limit])).left).toEqual([{ milliTokens: 10_000, used: 10 }]);
    await settle(3, 3, 1);
    expect((await takeAt(morning, [limit])).left).toEqual([{ milliTokens: 6000, used: 11 }]);
    await settle(500, 50, 0);
    expect((await takeAt(morning + 100, [limit])).left).toEqual([{ milliTokens: 0, used: 62 }]);
    // A bucket that owes goes below zero, and what is given back stays within it.
    await settle(5, 0, 0, 1);
    expect((await takeAt(morning + 100, [limit])).left).toEqual([{ milliTokens: -5000, used: 62 }]);
    expect((await takeAt(morning + 600, [limit])).lacking).toBe(1);
    expect((await takeAt(morning + 700, [limit])).left).toEqual([{ milliTokens: 0, used: 63 }]);
    await settle(-500, -500, 0, 1);
    expect((await takeAt(morning + 700, [limit])).left).toEqual([{ milliTokens: 19_000, used: 1 }]);
  });
});

test('what a replayed call took of its day is given back to its account and its key, and its token is not', async () => {
  const limits = [
    { rate: { perS: 1, burst: 10 }, perDay: 100 },
    { rate: null, perDay: 5 },
  ];
  await giveBackDayUnit(redis, 'a', 'key');
  expect(await redis.keys('*')).toEqual([]);
  for (const used of [1, 2]) expect((await take(limits)).left.map((each) => each.used)).toEqual([used, used]);
  await giveBackDayUnit(redis, 'a', 'key');
  const { left } = await take(limits);
  expect(left.map((each) => each.used)).toEqual([2, 2]);
  expect(left[0]?.milliTokens).toBeLessThan(7500);
  await redis.hset(keys[0], 'd', 1);
  await giveBackDayUnit(redis, 'a', 'key');
  expect(await redis.hmget(keys[0], 'd', 'n')).toEqual(['1', '2']);
});

test('a limit that nobody can read begins anew', async () => {
  const limit = { rate: { perS: 1000, burst: 1_000_000 }, perDay: 100 };
  await redis.hset(keys[0], { b: '5', of: 'tomorrow', d: 1 });
  expect((await takeAt(morning, [limit])).left).toEqual([{ milliTokens: 999_999_000, used: 1 }]);
});
