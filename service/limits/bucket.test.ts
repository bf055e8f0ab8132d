import { dayMs, hourMs } from '@gw/contract/internal/durations';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { everyLimit, fullState, type Limit, lack, quotaStateOf, takeTogether } from './bucket.ts';

const morning = Date.parse('2026-11-21T09:00:00Z');
const rate = fc.record({
  perS: fc.oneof(
    fc.integer({ min: 1, max: 3_000_000 }),
    fc.integer({ min: 1, max: 50 }).map((perS) => perS / 3),
  ),
  burst: fc.integer({ min: 1, max: 50 }),
});
const limit: fc.Arbitrary<Limit> = fc.record({
  rate,
  perDay: fc.option(fc.integer({ min: 1, max: 60 }), { nil: null }),
});
const waits = fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 150 });

describe('limits', () => {
  test('admit in any time at most the burst and what the rate brings, and in a day at most its budget', () => {
    fc.assert(
      fc.property(limit, waits, (given, pauses) => {
        const state = fullState(given, morning);
        let nowMs = morning;
        let admitted = 0;
        for (const pause of pauses) {
          nowMs += pause;
          if (takeTogether([{ limit: given, state }], 0, nowMs) === 0) admitted += 1;
          const { burst = 0, perS = 0 } = given.rate ?? {};
          expect(admitted).toBeLessThanOrEqual(burst + (perS * (nowMs - morning)) / 1000 + 1e-6);
          if (given.perDay !== null) expect(admitted).toBeLessThanOrEqual(given.perDay);
        }
      }),
    );
  });

  test('let in whoever waits as long as they say, and not a millisecond earlier', () => {
    fc.assert(
      fc.property(limit, waits, (given, pauses) => {
        const open: Limit = { ...given, perDay: null };
        const state = fullState(open, morning);
        const levels = [{ limit: open, state }];
        let nowMs = morning;
        for (const pause of pauses) {
          nowMs += pause;
          if (takeTogether(levels, 0, nowMs) === 0) continue;
          const { nextTokenMs } = quotaStateOf(open, state);
          expect(nextTokenMs).toBeGreaterThan(0);
          if (nextTokenMs > 1) expect(takeTogether(levels, 0, nowMs + nextTokenMs - 1)).toBe(lack.rate);
          nowMs += nextTokenMs;
          expect(takeTogether(levels, 0, nowMs)).toBe(0);
        }
      }),
    );
  });

  test('in shadow refuse nothing, and stand afterwards as if they had refused', () => {
    fc.assert(
      fc.property(limit, waits, (given, pauses) => {
        const shadowed = [{ limit: given, state: fullState(given, morning) }];
        const enforced = [{ limit: given, state: fullState(given, morning) }];
        let nowMs = morning;
        for (const pause of pauses) {
          nowMs += pause;
          takeTogether(shadowed, everyLimit.rate | everyLimit.day, nowMs);
          takeTogether(enforced, 0, nowMs);
          expect(shadowed[0]?.state.milliTokens).toBeGreaterThanOrEqual(0);
          expect(shadowed[0]?.state.used).toBeLessThanOrEqual(given.perDay ?? Number.POSITIVE_INFINITY);
        }
        // A rate that lacks takes from the day in shadow, which enforced it would not have done.
        if (given.perDay === null) expect(shadowed[0]?.state.milliTokens).toBe(enforced[0]?.state.milliTokens);
      }),
    );
  });

  test('begin a day at midnight UTC, and not again when the clock steps back over it', () => {
    const given: Limit = { rate: { perS: 1000, burst: 1000 }, perDay: 2 };
    const midnight = Math.ceil(morning / dayMs) * dayMs;
    const levels = [{ limit: given, state: fullState(given, morning) }];
    const at = (nowMs: number) => takeTogether(levels, 0, nowMs);
    expect([at(midnight - 2), at(midnight - 1), at(midnight - 1)]).toEqual([0, 0, lack.day]);
    expect([at(midnight), at(midnight - 5), at(midnight - 5)]).toEqual([0, 0, lack.day]);
    expect(at(midnight + 1)).toBe(lack.day);
  });

  test('go on at their rate after the clock has stepped back', () => {
    const given: Limit = { rate: { perS: 10, burst: 1 }, perDay: null };
    const levels = [{ limit: given, state: fullState(given, morning) }];
    expect(takeTogether(levels, 0, morning)).toBe(0);
    expect(takeTogether(levels, 0, morning - hourMs)).toBe(lack.rate);
    expect(takeTogether(levels, 0, morning - hourMs + 100)).toBe(0);
  });
});
