/** Slices by themselves: their clock, and what Redis is asked for and given back, are the test's. */
import { dayMs } from '@gw/contract/internal/durations';
import { drawnOf, limitOf } from '@gw/testing/ext-authz/limiters';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { DrawnLimits } from './drawn-limits.ts';
import type { KeyedLimit } from './local-shares.ts';
import type { TakenInRedis } from './redis-limits.ts';
import { Slices } from './slices.ts';

const morning = Date.parse('2026-11-21T09:00:00Z');
const limit = limitOf(1000, 2000, 1_000_000);
const keyed: readonly KeyedLimit[] = [{ key: 'gw:limit:{a}:calls', limit }];

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

function opened(redisMs = morning) {
  const clock = { ms: 1000 };
  const back: { calls: number; day: number }[] = [];
  const asked: number[] = [];
  const slices = new Slices({
    now: () => clock.ms,
    giveBack: async (_, calls, day) => void back.push({ calls, day }),
  });
  const begin = clock.ms;
  let used = 0;
  /** As the limiter asks. Returns whether a slice let the call in. */
  const call = async (drawn: DrawnLimits, answersAfterMs = 0): Promise<boolean> => {
    if (slices.use(drawn) !== null) return true;
    const atMs = redisMs + clock.ms - begin;
    const taking = slices.take(drawn, keyed, async (calls) => {
      asked.push(calls);
      clock.ms += answersAfterMs;
      used += calls;
      return { lacking: 0, atMs, left: [{ milliTokens: 1_500_000, used }], calls } satisfies TakenInRedis;
    });
    await taking;
    return false;
  };
  const calls = async (drawn: DrawnLimits, count: number) => {
    for (let at = 0; at < count; at += 1) await call(drawn);
  };
  return { asked, back, call, calls, clock, slices };
}

test('calls are let in by what was taken, and what is over is put back when its time has passed', async () => {
  const { asked, back, calls, clock } = opened();
  const drawn = drawnOf(limit);
  await calls(drawn, 30);
  const held = asked.reduce((sum, each) => sum + each) - 30;
  expect(held).toBeGreaterThan(0);
  clock.ms += 100;
  await vi.advanceTimersByTimeAsync(100);
  expect(back).toEqual([{ calls: held, day: Math.floor(morning / dayMs) }]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(back).toHaveLength(1);
});

test('what of a slice is over is put back also where a call comes before its timer', async () => {
  const { asked, back, call, calls, clock } = opened();
  const drawn = drawnOf(limit);
  await calls(drawn, 30);
  const held = asked.reduce((sum, each) => sum + each) - 30;
  clock.ms += 100.3;
  expect(await call(drawn)).toBe(false);
  expect(back.map((each) => each.calls)).toEqual([held]);
});

test('the time of a slice begins with the question', async () => {
  const { asked, call, calls } = opened();
  const drawn = drawnOf(limit);
  await calls(drawn, 6);
  while ((await call(drawn, 95)) || (asked.at(-1) ?? 0) < 4);
  expect(await call(drawn)).toBe(true);
  const late = opened();
  await late.calls(drawn, 6);
  while ((await late.call(drawn, 100)) || (late.asked.at(-1) ?? 0) < 4);
  expect(await late.call(drawn)).toBe(false);
});

test('no call of a day is let in by what was taken on the day before', async () => {
  const midnight = Math.ceil(morning / dayMs) * dayMs;
  const { asked, call, clock } = opened(midnight - 20);
  const drawn = drawnOf(limit);
  while ((asked.at(-1) ?? 0) < 10) await call(drawn);
  expect(await call(drawn)).toBe(true);
  clock.ms += 20;
  expect(await call(drawn)).toBe(false);
});

test('the keys of an account hold a hundredth of its bucket together', async () => {
  const { asked, calls } = opened();
  let made = 0;
  for (let key = 0; key < 40; key += 1) {
    await calls(drawnOf(limit, limitOf(1000, 2000)), 10);
    made += 10;
    expect(asked.reduce((sum, each) => sum + each) - made).toBeLessThanOrEqual(20);
  }
});

test('a question that fails leaves room for the next one', async () => {
  const { asked, calls, slices } = opened();
  const drawn = drawnOf(limit);
  await calls(drawn, 6);
  for (let at = 0; at < 10; at += 1) {
    if (slices.use(drawn) !== null) continue;
    await expect(slices.take(drawn, keyed, async () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  }
  const before = asked.length;
  await calls(drawn, 10);
  expect(Math.max(...asked.slice(before))).toBeGreaterThanOrEqual(4);
});
