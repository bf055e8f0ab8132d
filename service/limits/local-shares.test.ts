import { dayMs } from '@gw/contract/internal/durations';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { advance, everyLimit, fullState, type Limit, takeTogether } from './bucket.ts';
import { openLocalShares } from './local-shares.ts';

const start = Date.parse('2026-11-21T09:00:00Z');
const key = 'gw:limit:{a}:calls';

/** Stands for Redis: the whole limit. */
function redisOf(limit: Limit) {
  const state = fullState(limit, start);
  return {
    state,
    take: (nowMs: number) => takeTogether([{ limit, state }], 0, nowMs) === 0,
    settle: ({ milliTokens, used }: { milliTokens: number; used: number }, nowMs: number) => {
      advance(state, limit, nowMs);
      state.milliTokens = Math.max(0, state.milliTokens - milliTokens);
      state.used += used;
    },
  };
}

const rates = fc.record({ perS: fc.integer({ min: 1, max: 20 }), burst: fc.integer({ min: 1, max: 40 }) });
/** Seconds with or without Redis, and how many ask in each. */
const courses = fc.array(fc.record({ away: fc.boolean(), calls: fc.integer({ min: 0, max: 60 }) }), {
  minLength: 1,
  maxLength: 60,
});

describe('the shares of instances', () => {
  test('admit nothing on top of a limit, however often Redis comes and goes', () => {
    fc.assert(
      fc.property(rates, fc.integer({ min: 1, max: 500 }), courses, (rate, perDay, course) => {
        const limit: Limit = { rate, perDay };
        const keyed = [{ key, limit }];
        const shares = openLocalShares(1);
        const redis = redisOf(limit);
        let nowMs = start;
        let admitted = 0;
        for (const { away, calls } of course) {
          nowMs += 1000;
          if (!away) for (const debt of shares.collectDebts(nowMs).values()) redis.settle(debt, nowMs);
          for (let call = 0; call < calls; call += 1) {
            const isIn = away ? shares.take(keyed, 0, nowMs).lacking === 0 : redis.take(nowMs);
            if (isIn) admitted += 1;
            if (!away) shares.follow(keyed, [redis.state], { decidedMs: nowMs, nowMs });
          }
          expect(admitted).toBeLessThanOrEqual(rate.burst + (rate.perS * (nowMs - start)) / 1000 + 1e-6);
          expect(admitted).toBeLessThanOrEqual(perDay);
        }
      }),
    );
  });

  test('together are the limit, and at least one request each', () => {
    fc.assert(
      fc.property(rates, fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 30 }), (rate, instances, spanS) => {
        const limit: Limit = { rate, perDay: null };
        let admitted = 0;
        for (let instance = 0; instance < instances; instance += 1) {
          const shares = openLocalShares(instances);
          for (let ms = 0; ms <= spanS * 1000; ms += 25)
            if (shares.take([{ key, limit }], 0, start + ms).lacking === 0) admitted += 1;
        }
        const most = Math.max(rate.burst, instances) + rate.perS * spanS;
        expect(admitted).toBeLessThanOrEqual(most + 1e-6);
        expect(admitted).toBeGreaterThanOrEqual(instances);
      }),
    );
  });

  test('never admit what is larger than the limit itself', () => {
    const shares = openLocalShares(2);
    const limits = [
      { rate: { perS: 1, burst: 100 }, perDay: null },
      { rate: null, perDay: 100 },
    ];
    for (const [of, limit] of limits.entries()) {
      const taken = [51, 101].map((cost) => shares.take([{ key: `${key}:${of}:${cost}`, limit, cost }], 0, start));
      expect(taken.map(({ lacking }) => lacking !== 0)).toEqual([false, true]);
    }
  });

  test('begin with what Redis had left, not with a full bucket or a new day', () => {
    const limit: Limit = { rate: { perS: 1, burst: 100 }, perDay: 1000 };
    const shares = openLocalShares(4);
    shares.follow([{ key, limit }], [{ milliTokens: 8000, used: 990 }], {
      decidedMs: start,
      nowMs: start,
    });
    const { quotaStates } = shares.take([{ key, limit }], 0, start);
    expect(quotaStates).toEqual([{ remaining: 1, nextTokenMs: 0, remainingDay: 2 }]);
  });

  test('take nothing over midnight from the day before, whichever of the two clocks is ahead', () => {
    const limit: Limit = { rate: { perS: 1, burst: 100 }, perDay: 100 };
    const midnight = (Math.floor(start / dayMs) + 1) * dayMs;
    const left = (used: number) => [{ milliTokens: 100_000, used }];
    for (const aheadMs of [1, -1]) {
      const shares = openLocalShares(1);
      const follow = (used: number, decidedMs: number) =>
        shares.follow([{ key, limit }], left(used), { decidedMs, nowMs: decidedMs + aheadMs });
      follow(100, midnight - 1);
      follow(1, midnight + 1);
      const { lacking, quotaStates } = shares.take([{ key, limit }], 0, midnight + 7_200_000);
      expect(lacking).toBe(0);
      expect(quotaStates[0]?.remainingDay).toBe(98);
    }
  });

  test('owe nothing for what Redis counted after all, on its day', () => {
    const limit: Limit = { rate: { perS: 1, burst: 100 }, perDay: 100 };
    const keyed = [{ key, limit }];
    const shares = openLocalShares(1);
    for (let call = 0; call < 3; call += 1) shares.take(keyed, 0, start);
    shares.forgive(keyed, start);
    shares.forgive(keyed, start - dayMs);
    expect(shares.collectDebts(start).get(key)).toMatchObject({ milliTokens: 1000, used: 2 });
    shares.forgive(keyed, start);
    expect(shares.collectDebts(start).size).toBe(0);
  });

  test('forget first what was used longest ago', () => {
    const limit: Limit = { rate: { perS: 1, burst: 2 }, perDay: null };
    const shares = openLocalShares(1);
    const left = (name: string) => shares.take([{ key: name, limit }], 0, start).quotaStates[0]?.remaining;
    left('used');
    left('old');
    for (let other = 0; other < 49_998; other += 1) left(`other ${other}`);
    expect(left('used')).toBe(0);
    left('one more');
    expect(left('used')).toBe(0);
    expect(left('old')).toBe(1);
  });

  test('owe nothing for what a limit in shadow let through', () => {
    const limit: Limit = { rate: { perS: 10, burst: 2 }, perDay: 3 };
    const shares = openLocalShares(1);
    const both = everyLimit.rate | everyLimit.day;
    for (let call = 0; call < 10; call += 1) shares.take([{ key, limit }], both, start);
    expect(shares.collectDebts(start).get(key)).toMatchObject({ milliTokens: 2000, used: 3 });
  });

  test('owe what they admitted, by the day, until it has been counted; what was refilled is owed no more', () => {
    const limit: Limit = { rate: { perS: 10, burst: 20 }, perDay: 1000 };
    const shares = openLocalShares(1);
    const day = Math.floor(start / dayMs);
    for (let call = 0; call < 30; call += 1) shares.take([{ key, limit }], 0, start);
    const debts = shares.collectDebts(start + 500);
    expect([...debts]).toEqual([[key, { limit, milliTokens: 15_000, used: 20, day }]]);
    expect(shares.collectDebts(start + 500).size).toBe(0);
    for (const [of, debt] of debts) shares.owe(of, debt);
    expect(shares.collectDebts(start + 500).get(key)).toEqual({ limit, milliTokens: 15_000, used: 20, day });
    shares.take([{ key, limit }], 0, start);
    shares.take([{ key, limit }], 0, start + dayMs);
    expect(shares.collectDebts(start + dayMs + 60_000).get(key)).toEqual({
      limit,
      milliTokens: 0,
      used: 1,
      day: day + 1,
    });
  });
});

test('a share of bytes lets in what its part holds, at least one body, and owes what it let in', () => {
  const limit: Limit = { rate: { perS: 1000, burst: 100_000 }, perDay: null };
  const admitted = (instances: number, cost: number) => {
    const shares = openLocalShares(instances);
    const takes = Array.from({ length: 50 }, () => shares.take([{ key: 'bytes', limit, cost }], 0, 0).lacking);
    const owed = shares.collectDebts(0).get('bytes')?.milliTokens;
    const count = takes.filter((lacking) => lacking === 0).length;
    expect(owed).toBe(count * cost * 1000);
    return count;
  };
  expect(admitted(1, 10_000)).toBe(10);
  expect(admitted(4, 10_000)).toBe(2);
  expect(admitted(50, 10_000)).toBe(1);
});
