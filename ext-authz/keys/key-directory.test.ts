import fc from 'fast-check';
import { expect, it } from 'vitest';
import { budget, KeyDirectory } from './key-directory.ts';

const id = (n: number) => `key${String(n).padStart(9, '0')}`;
const table = (ids: readonly string[]) => Buffer.from([...ids].sort().join(''), 'latin1');

function setUp(ids: readonly string[] = []) {
  let nowMs = 0;
  let loads = 0;
  let known: number | null = null;
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
  /** The result of a poll; without `changed`, more has changed than is known. */
  const confirm = (generation: number, changed: { ids?: string[]; accounts?: string[] } | null, askedAt = nowMs) => {
    const before = known;
    known = generation;
    const since = changed && { publicIds: changed.ids ?? [], accountIds: changed.accounts ?? [] };
    return directory.confirm(before, { generation, since }, askedAt);
  };
  /** Until the budget for unknown ids is spent. */
  const flood = () => Array.from({ length: budget.burst }, (_, i) => directory.admit(id(900_000 + i)));
  return { directory, held, confirm, flood, pass: (ms: number) => (nowMs += ms), loads: () => loads };
}

/** Lets what waits for it go on. */
function gate() {
  let open = () => {};
  const hold = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { hold, open };
}

it('finds each id that is in the table, and no other', async () => {
  const ids = fc.uniqueArray(fc.stringMatching(/^[0-9A-Za-z]{12}$/), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(ids, ids, async (there, others) => {
      const { directory, confirm, flood } = setUp(there);
      await confirm(1, null);
      flood();
      for (const each of there) expect(directory.admit(each)).toBe('look_up');
      for (const each of others.filter((one) => !there.includes(one))) expect(directory.admit(each)).toBe('unknown');
    }),
  );
});

it('looks unknown ids up only as far as the budget goes, which comes back with time', async () => {
  const { directory, confirm, pass } = setUp([id(1)]);
  await confirm(1, null);
  const lookUps = (count: number) =>
    Array.from({ length: count }, (_, i) => directory.admit(id(1000 + i))).filter((each) => each === 'look_up').length;
  expect(lookUps(100_000)).toBe(budget.burst);
  pass(500);
  await confirm(1, {});
  expect(lookUps(100_000)).toBe(budget.ratePerS / 2);
  expect(directory.admit(id(1))).toBe('look_up');
});

it('refuses nobody when it was never read, or was confirmed more than a second ago', async () => {
  const { directory, confirm, flood, pass } = setUp();
  flood();
  expect(directory.admit(id(1))).toBe('unsure');
  await confirm(1, null);
  expect(directory.admit(id(1))).toBe('unknown');
  pass(1000);
  flood();
  expect(directory.admit(id(1))).toBe('unknown');
  pass(1);
  expect(directory.admit(id(1))).toBe('unsure');
});

it('admits a key that a message told of, also one that was told while the table was read', async () => {
  const { directory, confirm, flood, held } = setUp();
  directory.tell(id(1));
  flood();
  expect(directory.admit(id(1))).toBe('look_up');
  const { hold, open } = gate();
  Object.assign(held, { hold, ids: [id(1)] });
  const reading = confirm(2, null);
  directory.tell(id(2));
  open();
  await reading;
  expect([id(1), id(2), id(3)].map((each) => directory.admit(each))).toEqual(['look_up', 'look_up', 'unknown']);
});

it('forgets what messages told as soon as a poll that was asked later has said what there is', async () => {
  const { directory, confirm, flood, pass } = setUp();
  await confirm(1, null);
  directory.tell(id(1));
  const askedAt = pass(0);
  pass(1);
  directory.tell(id(2));
  await confirm(1, {}, askedAt);
  flood();
  expect([id(1), id(2)].map((each) => directory.admit(each))).toEqual(['look_up', 'look_up']);
  await confirm(1, {}, pass(1));
  expect([id(1), id(2)].map((each) => directory.admit(each))).toEqual(['unknown', 'unknown']);
});

it('takes over what changed without reading the table, and is as fresh as if it had', async () => {
  const { directory, confirm, flood, loads, pass } = setUp([id(1)]);
  await confirm(1, null);
  for (let n = 2; n < 3000; n += 1) {
    pass(300);
    await confirm(2 * n, { ids: [id(n), id(1)], accounts: ['acct_1'] });
  }
  flood();
  for (let n = 1; n < 3000; n += 1) expect(directory.admit(id(n))).toBe('look_up');
  expect(directory.admit(id(3000))).toBe('unknown');
  expect(loads()).toBe(1);
});

it('reads the table again where more has changed than is known, and drops the ids that are in it no more', async () => {
  const { directory, confirm, flood, held, loads } = setUp([id(1)]);
  await confirm(1, null);
  await confirm(2, { ids: [id(2)] });
  held.ids = [id(3)];
  await confirm(5000, null);
  flood();
  expect([1, 2, 3].map((n) => directory.admit(id(n)))).toEqual(['unknown', 'unknown', 'look_up']);
  expect(loads()).toBe(2);
});

it('keeps what changes while the table is read, and needs no second reading for it', async () => {
  const { directory, confirm, flood, held, loads, pass } = setUp([id(1)]);
  await confirm(1, null);
  const { hold, open } = gate();
  held.hold = hold;
  const reading = confirm(5000, null);
  pass(800);
  await confirm(5001, { ids: [id(2)] });
  pass(800);
  flood();
  // Between 1 and 5000 may be keys that nobody has told of.
  expect(directory.admit(id(9))).toBe('unsure');
  await confirm(5002, { accounts: ['acct_1'] });
  open();
  await reading;
  flood();
  expect([1, 2, 9].map((n) => directory.admit(id(n)))).toEqual(['look_up', 'look_up', 'unknown']);
  await confirm(5003, { ids: [id(3)] });
  expect([directory.admit(id(3)), loads()]).toEqual(['look_up', 2]);
});

it('keeps the old list if the table cannot be read, and reads it whole even if changes after that are known', async () => {
  const { directory, confirm, flood, held, loads, pass } = setUp([id(1)]);
  await confirm(1, null);
  held.hold = Promise.reject(new Error('away'));
  held.ids = [id(1), id(2)];
  await expect(confirm(5000, null)).rejects.toThrow('away');
  flood();
  expect(directory.admit(id(1))).toBe('look_up');
  pass(1001);
  await expect(confirm(5001, { ids: [id(3)] })).rejects.toThrow('away');
  flood();
  expect([2, 3].map((n) => directory.admit(id(n)))).toEqual(['unsure', 'look_up']);
  held.hold = Promise.resolve();
  await confirm(5001, {});
  expect([directory.admit(id(2)), loads()]).toEqual(['look_up', 4]);
});
