import fc from 'fast-check';
import { expect, it } from 'vitest';
import { budget, KeyDirectory } from './key-directory.ts';

const id = (n: number) => `key${String(n).padStart(9, '0')}`;
const table = (ids: readonly string[]) => Buffer.from([...ids].sort().join(''), 'latin1');

function setUp(ids: readonly string[] = []) {
  let nowMs = 0;
  let loads = 0;
  const held = { ids, hold: Promise.resolve() };
  const directory = new KeyDirectory({
    now: () => nowMs,
    load: async () => {
      loads += 1;
      const read = table(held.ids);
      await held.hold;
      return read;
    },
  });
  /** Until the budget for unknown ids is spent. */
  const flood = () => Array.from({ length: budget.burst }, (_, i) => directory.admit(id(900_000 + i)));
  return { directory, held, flood, pass: (ms: number) => (nowMs += ms), now: () => nowMs, loads: () => loads };
}

it('finds each id that is in the table, and no other', async () => {
  const ids = fc.uniqueArray(fc.stringMatching(/^[0-9A-Za-z]{12}$/), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(ids, ids, async (there, others) => {
      const { directory, flood } = setUp(there);
      await directory.confirm(1, 0);
      flood();
      for (const each of there) expect(directory.admit(each)).toBe('look_up');
      for (const each of others.filter((one) => !there.includes(one))) expect(directory.admit(each)).toBe('unknown');
    }),
  );
});

it('looks unknown ids up only as far as the budget goes, which comes back with time', async () => {
  const { directory, pass, now } = setUp([id(1)]);
  await directory.confirm(1, 0);
  const lookUps = (count: number) =>
    Array.from({ length: count }, (_, i) => directory.admit(id(1000 + i))).filter((each) => each === 'look_up').length;
  expect(lookUps(100_000)).toBe(budget.burst);
  pass(500);
  await directory.confirm(1, now());
  expect(lookUps(100_000)).toBe(budget.ratePerS / 2);
  expect(directory.admit(id(1))).toBe('look_up');
});

it('refuses nobody when it was never read, or was confirmed more than a second ago', async () => {
  const { directory, flood, pass } = setUp();
  flood();
  expect(directory.admit(id(1))).toBe('unsure');
  await directory.confirm(1, 0);
  expect(directory.admit(id(1))).toBe('unknown');
  pass(1000);
  flood();
  expect(directory.admit(id(1))).toBe('unknown');
  pass(1);
  expect(directory.admit(id(1))).toBe('unsure');
});

it('admits a key that a message told of, also one that was told while the table was read', async () => {
  const { directory, flood, held } = setUp();
  directory.tell(id(1));
  flood();
  expect(directory.admit(id(1))).toBe('look_up');
  let release = () => {};
  held.hold = new Promise((resolve) => {
    release = resolve;
  });
  held.ids = [id(1)];
  const reading = directory.confirm(2, 0);
  directory.tell(id(2));
  release();
  await reading;
  expect([id(1), id(2), id(3)].map((each) => directory.admit(each))).toEqual(['look_up', 'look_up', 'unknown']);
});

it('reads the table once for each generation, and keeps the old one if it cannot be read', async () => {
  const { directory, flood, held, loads } = setUp([id(1)]);
  await directory.confirm(1, 0);
  await directory.confirm(1, 0);
  expect(loads()).toBe(1);
  held.hold = Promise.reject(new Error('away'));
  await expect(directory.confirm(2, 0)).rejects.toThrow('away');
  flood();
  expect(directory.admit(id(1))).toBe('look_up');
  held.hold = Promise.resolve();
  await directory.confirm(2, 0);
  expect(loads()).toBe(3);
});
