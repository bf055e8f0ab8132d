/** The scripts in a real Valkey, against what they are to do written down plainly. */
import { cases } from '@gw/testing/cases';
import { emptyValkey } from '@gw/testing/valkey';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type BudgetUse, redisBudgetUse, type WantedShare } from './budget-use.ts';

let redis: Redis;
let use: BudgetUse;
beforeAll(async () => {
  redis = new Redis(await emptyValkey());
  use = redisBudgetUse(redis);
}, 60_000);
afterAll(() => redis?.disconnect());
beforeEach(() => redis.flushall());

const ids = ['bud_a', 'bud_b', 'bud_c'];
const months = ['2026-11', '2026-12'];
const most: Readonly<Record<string, number | null>> = { bud_a: 1000, bud_b: 700, bud_c: null };

const call = fc.nat(5);
const month = fc.nat(1);
const steps = fc.array(fc.nat(300), { minLength: 3, maxLength: 3 });
const which = fc.subarray(ids, { minLength: 1 });
const assumed = fc.subarray(ids);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('reserve' as const), call, month, steps, which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('again' as const), call, month, steps, which }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('settle' as const), call, month, steps, which, assumed }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), call, month }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('rebase' as const), month, steps, assumed, late: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const) }) },
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface Month {
  turn: number;
  readonly bases: Map<string, number>;
  /** The assumed part of the bases. */
  readonly estimates: Map<string, number>;
  readonly calls: Map<string, { reserved: boolean; shares: Map<string, number>; assumed: readonly string[] }>;
}
const newMonth = (): Month => ({ turn: 0, bases: new Map(), estimates: new Map(), calls: new Map() });
const sum = (of: Month, id: string, reservedAlone = false) =>
  [...of.calls.values()]
    .filter(({ reserved }) => reserved || !reservedAlone)
    .reduce((total, { shares }) => total + (shares.get(id) ?? 0), reservedAlone ? 0 : (of.bases.get(id) ?? 0));
const sumEstimated = (of: Month, id: string) =>
  [...of.calls.values()]
    .filter((each) => each.assumed.includes(id))
    .reduce((total, { shares }) => total + (shares.get(id) ?? 0), of.estimates.get(id) ?? 0);

test('whatever comes in whatever order, what is used is the base and each call once', async () => {
  const check = async (all: readonly Step[]) => {
    await redis.flushall();
    const model = months.map(newMonth);
    for (const one of all) {
      if (one.do === 'lose') {
        await redis.flushall();
        for (const [at] of model.entries()) model[at] = newMonth();
        continue;
      }
      const of = model[one.month] as Month;
      const book = { accountId: 'acct', month: months[one.month] as string };
      const name = 'call' in one ? `rcpt_${one.call}` : '';
      const sharesOf = () =>
        'which' in one ? one.which.map((id) => ({ id, steps: one.steps[ids.indexOf(id)] as number })) : [];
      if (one.do === 'reserve' || one.do === 'again') {
        const floor = 50;
        const asked: WantedShare[] = sharesOf().map((each) => ({
          ...each,
          assumed: Math.floor(each.steps / 2),
          bounded: each.steps,
          whole: each.steps,
          most: most[each.id] ?? null,
          floor,
        }));
        const before = asked.map(({ id }) => sum(of, id) + (of.bases.has(id) ? 0 : floor));
        const full = asked.findIndex(
          (each, at) => each.most !== null && (before[at] as number) + each.steps > each.most,
        );
        const anyway = one.do === 'again';
        const isThere = anyway && of.calls.has(name);
        const taken = !isThere && (anyway || full === -1);
        if (anyway) await use.reserveAnyway(book, name, asked);
        else {
          const used = asked.map((each, at) => (before[at] as number) + (taken ? each.steps : 0));
          const known = asked.map(({ id }) => of.bases.has(id));
          const reserved = asked.map((each) => each.steps);
          const isHeld = asked.every(({ id, most: limit, steps }, at) => {
            // Half of the steps is assumed.
            const spareOf = [...of.calls.values()].map(({ reserved: is, shares }) =>
              is ? Math.ceil((shares.get(id) ?? 0) / 2) : 0,
            );
            const spare = spareOf.reduce((all, each) => all + each, 0);
            return limit === null || (before[at] as number) - spare + steps <= limit;
          });
          const expected = {
            refusedBy: full === -1 ? null : full,
            isHeld: full !== -1 && isHeld,
            used,
            known,
            answer: null,
          };
          const reply = await use.reserve(book, name, asked, null);
          expect(reply).toEqual({ ...expected, steps: taken ? reserved : reply.steps });
        }
        if (taken)
          of.calls.set(name, {
            reserved: true,
            shares: new Map(sharesOf().map((each) => [each.id, each.steps])),
            assumed: [],
          });
      } else if (one.do === 'settle') {
        const settled = sharesOf().map((each) => ({ ...each, isEstimate: one.assumed.includes(each.id) }));
        await use.settle(book, name, settled);
        of.calls.set(name, {
          reserved: false,
          shares: new Map(sharesOf().map((each) => [each.id, each.steps])),
          assumed: one.assumed,
        });
      } else if (one.do === 'release') {
        await use.release(book, name);
        of.calls.delete(name);
      } else {
        const gone = [...of.calls].filter(([, { reserved }]) => !reserved).map(([id]) => id);
        const bases = ids.map((id, at) => {
          const all = one.steps[at] as number;
          return { id, steps: all, estimated: one.assumed.includes(id) ? Math.floor(all / 2) : 0 };
        });
        expect(await use.rebase(book, one.late ? of.turn + 7 : of.turn, bases, gone)).toBe(!one.late);
        if (!one.late) {
          of.turn += 1;
          for (const { estimated, id, steps: base } of bases) {
            of.bases.set(id, base);
            of.estimates.set(id, estimated);
          }
          for (const id of gone) of.calls.delete(id);
        }
      }
    }
    for (const [at, of] of model.entries()) {
      const book = { accountId: 'acct', month: months[at] as string };
      expect(await use.turn(book)).toBe(of.turn);
      const kinds = [...of.calls].map(([id, { reserved, shares }]) => {
        const listed = [...shares].map(([budget, count]) =>
          reserved ? { id: budget, steps: count, assumed: Math.floor(count / 2) } : { id: budget, steps: count },
        );
        return [id, { state: reserved ? 'reserved' : 'settled', shares: listed }] as const;
      });
      expect(new Map(await use.calls(book))).toEqual(new Map(kinds));
      for (const id of ids)
        expect(await use.state(book, id)).toEqual({
          base: of.bases.get(id) ?? null,
          used: sum(of, id),
          held: sum(of, id, true),
          estimated: sumEstimated(of, id),
        });
    }
  };
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 60 }), check), { numRuns: cases(2_000) });
}, 120_000);

test('calls that are reserved at once never take more than there is', async () => {
  const book = { accountId: 'acct', month: '2026-11' };
  await use.rebase(book, 0, [{ id: 'bud_a', steps: 0, estimated: 0 }], []);
  const asked = [{ id: 'bud_a', steps: 7, bounded: 7, whole: 7, assumed: 7, most: 1000, floor: 0 }];
  const other = redis.duplicate();
  const both = [use, redisBudgetUse(other)];
  const replies = await Promise.all(
    Array.from({ length: 400 }, (_, at) => (both[at % 2] as BudgetUse).reserve(book, `rcpt_${at}`, asked, null)),
  );
  other.disconnect();
  expect(replies.filter(({ refusedBy }) => refusedBy === null)).toHaveLength(142);
  expect(await use.state(book, 'bud_a')).toEqual({ base: 0, used: 994, held: 994, estimated: 0 });
});

test('an open answer reserves the longest where that fits, and then what is left, never more than there is', async () => {
  const book = { accountId: 'acct', month: '2026-11' };
  await use.rebase(
    book,
    0,
    ['bud_a', 'bud_c'].map((id) => ({ id, steps: 0, estimated: 0 })),
    [],
  );
  const open = { from: 400, to: 4096 };
  const soft = { id: 'bud_c', steps: 410, bounded: 410, whole: 410, assumed: 410, most: null, floor: 0 };
  const hard = { id: 'bud_a', steps: 410, bounded: 4106, whole: 20_010, assumed: 410, most: 50_000, floor: 0 };
  const reserve = (at: number) => use.reserve(book, `rcpt_${at}`, [hard, soft], open);
  const replies = await Promise.all(Array.from({ length: 8 }, (_, at) => reserve(at)));
  expect(replies.map(({ answer, steps: [reserved] }) => [answer, reserved])).toEqual([
    [null, 20_010],
    [null, 20_010],
    [4096, 4106],
    [4096, 4106],
    [1758, 1768],
    ...Array.from({ length: 3 }, () => [null, 0]),
  ]);
  expect(replies.map(({ refusedBy }) => refusedBy)).toEqual([null, null, null, null, null, 0, 0, 0]);
  expect(replies.map(({ isHeld }) => isHeld)).toEqual([...Array.from({ length: 5 }, () => false), true, true, true]);
  expect(await use.state(book, 'bud_a')).toMatchObject({ used: 50_000, held: 50_000 });
  expect(await use.state(book, 'bud_c')).toMatchObject({ used: 5 * 410 });
  await use.release(book, 'rcpt_1');
  expect(await reserve(9)).toMatchObject({ answer: null, steps: [20_010, 410] });
});

test('only what calls under way have spare promises room, and no longer once they have ended', async () => {
  const book = { accountId: 'acct', month: '2026-11' };
  await use.rebase(book, 0, [{ id: 'bud_a', steps: 0, estimated: 0 }], []);
  const hard = { id: 'bud_a', steps: 10, bounded: 10, whole: 95, assumed: 10, most: 100, floor: 0 };
  const reserve = (receipt: string) => use.reserve(book, receipt, [hard], { from: 5, to: 5 });
  expect(await reserve('rcpt_1')).toMatchObject({ refusedBy: null, steps: [95] });
  expect(await reserve('rcpt_2')).toMatchObject({ refusedBy: 0, isHeld: true });
  await use.settle(book, 'rcpt_1', [{ id: 'bud_a', steps: 95, isEstimate: false }]);
  expect(await reserve('rcpt_2')).toMatchObject({ refusedBy: 0, isHeld: false });
});

test('the longest that fits is exact to a step, in the largest budgets too', async () => {
  const book = { accountId: 'acct', month: '2026-11' };
  const check = async (least: number, more: number, left: number) => {
    await redis.flushall();
    const share = { id: 'bud_a', steps: least, bounded: least + more, whole: 9e15, assumed: 0, floor: 0 };
    const most = least + left;
    const reply = await use.reserve(book, 'rcpt_1', [{ ...share, most }], { from: 400, to: 4096 });
    const [reserved = 0] = reply.steps;
    expect(reply.refusedBy).toBeNull();
    expect(reserved).toBeLessThanOrEqual(most);
    expect(await use.state(book, 'bud_a')).toMatchObject({ used: reserved });
    const exact = (BigInt(3696) * BigInt(left)) / BigInt(more);
    expect(Math.abs(Number(reply.answer) - 400 - Math.min(3696, Number(exact)))).toBeLessThanOrEqual(1);
  };
  const steps = fc.integer({ min: 1, max: 4e15 });
  await fc.assert(fc.asyncProperty(steps, steps, fc.nat(4e15), check), { numRuns: cases(300) });
});
