import { dayMs } from '@gw/contract/internal/durations';
import { fullState, type Limit, quotaStateOf, takeTogether } from '@gw/service/limits/bucket';
import type { DrawnLimits } from '@gw/service/limits/drawn-limits';
import type { Limiter } from '@gw/service/limits/limiter';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AdmissionOptions, type LimitQuestion, openAdmission } from './admission.ts';

const morning = Date.parse('2026-11-21T09:00:00Z');
const drawnOf = (limit: Limit): DrawnLimits => ({
  levels: [
    { of: 'account', id: 'acct', limit },
    { of: 'key', id: 'own', limit: { rate: null, perDay: 50 } },
  ],
  body: null,
  shadow: [],
});

/** A limiter in memory at the time of `clock`, which counts how often it is asked. */
function inMemory(drawn: DrawnLimits, clock: { ms: number }) {
  const levels = drawn.levels.map(({ limit }) => ({ limit, state: fullState(limit, clock.ms) }));
  let asked = 0;
  const limiter: Pick<Limiter, 'decide'> = {
    decide: async () => {
      asked += 1;
      const lacking = takeTogether(levels, 0, clock.ms);
      const quotaStates = levels.map(({ limit, state }) => quotaStateOf(limit, state));
      return { admitted: lacking === 0, lacking, quotaStates, untilMidnightMs: dayMs - (clock.ms % dayMs) };
    },
  };
  return { limiter, asked: () => asked };
}

function open(drawn: DrawnLimits, options: Partial<AdmissionOptions> = {}) {
  const clock = { ms: morning };
  const { asked, limiter } = inMemory(drawn, clock);
  const decisions: boolean[] = [];
  const admission = openAdmission({
    limiter,
    metrics: { decided: (_account, _kind, _drawn, { admitted }) => decisions.push(admitted) },
    giveBack: () => {},
    now: () => clock.ms,
    ...options,
  });
  const question = (more: Partial<LimitQuestion> = {}): LimitQuestion => ({
    accountId: 'acct',
    kind: 'calls',
    drawn,
    askedMs: clock.ms,
    isGone: () => false,
    ...more,
  });
  /** As Envoy asks: the rate-limit step where the check of the key has not let the call in. */
  const ask = async () => {
    const early = await admission.letIn(question());
    if (early) return { admitted: true, headers: early };
    const { decision, headers } = await admission.decide(question());
    return { admitted: decision.admitted, headers };
  };
  return { admission, ask, asked, clock, decisions, question };
}

describe('the admission of a call', () => {
  const limit = fc.record({
    rate: fc.record({ perS: fc.integer({ min: 1, max: 50 }), burst: fc.integer({ min: 1, max: 20 }) }),
    perDay: fc.integer({ min: 1, max: 60 }),
  });

  test('in two steps is that in one: the same calls, headers and counts', () =>
    fc.assert(
      fc.asyncProperty(limit, fc.array(fc.integer({ min: 0, max: 700 }), { maxLength: 120 }), async (given, pauses) => {
        const drawn = drawnOf(given);
        const [two, one] = [open(drawn), open(drawn)];
        const expected: boolean[] = [];
        for (const pause of pauses) {
          two.clock.ms += pause;
          one.clock.ms += pause;
          const { decision, headers } = await one.admission.decide(one.question());
          expect(await two.ask()).toEqual({ admitted: decision.admitted, headers });
          expected.push(decision.admitted);
        }
        expect([two.decisions, one.decisions]).toEqual([expected, expected]);
      }),
    ));

  test('takes one question where there is room, and also where there has been none for a second', async () => {
    const { ask, asked, clock } = open(drawnOf({ rate: { perS: 1, burst: 3 }, perDay: null }));
    for (let call = 0; call < 3; call += 1) expect((await ask()).admitted).toBe(true);
    expect(asked()).toBe(3);
    for (let call = 0; call < 5; call += 1) expect((await ask()).admitted).toBe(false);
    expect(asked()).toBe(3 + 5 + 1);
    clock.ms += 999;
    await ask();
    expect(asked()).toBe(10);
    clock.ms += 1;
    expect((await ask()).admitted).toBe(true);
    expect(asked()).toBe(11);
  });

  test('without room for its calls, an account is still asked for at once about its reads', async () => {
    const { admission, asked, question } = open(drawnOf({ rate: { perS: 1, burst: 1 }, perDay: null }));
    for (const [kind, accountId, count] of [
      ['calls', 'acct', 1],
      ['calls', 'acct', 2],
      ['calls', 'acct', 2],
      ['management', 'acct', 3],
      ['calls', 'other', 4],
    ] as const) {
      await admission.letIn(question({ kind, accountId }));
      expect(asked()).toBe(count);
    }
  });

  test('that nobody waits for any more, since its key took long to find, takes nothing', async () => {
    const { admission, asked, decisions, question } = open(drawnOf({ rate: { perS: 1, burst: 1 }, perDay: 5 }));
    expect(await admission.letIn(question({ isGone: () => true }))).toBeNull();
    expect([asked(), decisions]).toEqual([0, []]);
    expect(await admission.letIn(question())).not.toBeNull();
  });

  test('of one key goes on at once while another has spent its own limit, and a small body while a large one has no room', async () => {
    const bucket = { rate: { perS: 1, burst: 1000 }, perDay: null };
    const lacking = { key: 0b0100, bytes: 0b010000 };
    let lacks: number = lacking.key;
    let decided = 0;
    const limiter: Pick<Limiter, 'decide'> = {
      decide: async () => {
        decided += 1;
        return { admitted: false, lacking: lacks, quotaStates: [], untilMidnightMs: 1 };
      },
    };
    const { admission, question } = open(drawnOf(bucket), { limiter });
    const ofOther: DrawnLimits = {
      ...drawnOf(bucket),
      levels: drawnOf(bucket).levels.map((each) => ({ ...each, id: `${each.id}2` })),
    };
    await admission.letIn(question());
    await admission.letIn(question());
    await admission.letIn(question({ drawn: ofOther }));
    expect(decided).toBe(2);
    lacks = lacking.bytes;
    const other = question({ accountId: 'third' });
    await admission.letIn(other);
    await admission.letIn(other);
    expect(decided).toBe(4);
  });

  test.each([
    ['is given back where Envoy has given it up', 'calls', true, [['acct', 'own']]],
    ['stays counted where Envoy waits for it', 'calls', false, []],
    ['has no day where it only reads', 'management', true, []],
  ] as const)('a call that is let in %s', async (_, kind, isGone, expected) => {
    const given: unknown[] = [];
    const { admission, asked, question } = open(drawnOf({ rate: null, perDay: 5 }), {
      giveBack: (...of) => given.push(of),
    });
    await admission.letIn(question({ kind, isGone: () => isGone && asked() > 0 }));
    expect(given).toEqual(expected);
  });
});
