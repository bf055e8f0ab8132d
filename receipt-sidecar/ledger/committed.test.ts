import type { GroundAlarm } from '@gw/contract/internal/ground';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openCommitted } from './committed.ts';

const log = pino({ level: 'silent' });
const alarm = (id: string) => JSON.stringify({ id } satisfies Partial<GroundAlarm>);

function setUp({ keepMs = 60_000, maxBytes = 1000 } = {}) {
  let nowMs = 0;
  let standing: string | null = null;
  let refuses = false;
  const put: string[] = [];
  const committed = openCommitted({
    redis: { get: (async () => standing) as never },
    maxBytes,
    keepMs,
    clock: () => nowMs,
    put: async (entry) => {
      if (refuses) throw new Error('away');
      put.push(entry.toString());
    },
    log,
  });
  return {
    committed,
    put,
    add(...entries: string[]) {
      for (const entry of entries) committed.add(Buffer.from(entry));
    },
    pass: (ms: number) => (nowMs += ms),
    raise: (id: string | null) => (standing = id === null ? null : alarm(id)),
    refuse: (does: boolean) => (refuses = does),
  };
}

test('what is kept is put in again once for each alarm, and not without one', async () => {
  const { add, committed, put, raise } = setUp();
  add('a', 'b');
  await committed.tend();
  expect(put).toEqual([]);
  raise('one');
  await committed.tend();
  await committed.tend();
  expect([put, committed.counts().putAgain]).toEqual([['a', 'b'], 2]);
  // They were committed again, and Postgres falls once more.
  add('a', 'c');
  raise('two');
  await committed.tend();
  expect(put.slice(2)).toEqual(['a', 'c']);
});

test('a store that refuses some leaves them for the next look', async () => {
  const { add, committed, put, raise, refuse } = setUp();
  add(...Array.from({ length: 450 }, (_, n) => `r${n}`).slice(0, 250));
  raise('one');
  refuse(true);
  await expect(committed.tend()).rejects.toThrow('away');
  refuse(false);
  await committed.tend();
  expect(new Set(put).size).toBe(250);
});

test('a receipt stays for its time behind the newest one, however long none comes, and within the bytes', async () => {
  const { add, committed, pass, put, raise } = setUp({ keepMs: 1000, maxBytes: 8 });
  add('aa');
  pass(900);
  add('bb');
  pass(100_000);
  expect(committed.counts().committedMs).toBe(900);
  raise('one');
  await committed.tend();
  expect(put).toEqual(['aa', 'bb']);
  add('cc');
  pass(1001);
  add('dd', 'ee', 'ff', 'gg', 'hh');
  raise('two');
  await committed.tend();
  expect(put.slice(2)).toEqual(['ee', 'ff', 'gg', 'hh']);
});

test('it can be switched off', async () => {
  const { add, committed, put, raise } = setUp({ keepMs: 0 });
  add('a');
  raise('one');
  await committed.tend();
  expect(put).toEqual([]);
});
