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
  let room = 1000;
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
    room: () => room,
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
    leaveRoom: (entries: number) => (room = entries),
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
  // Postgres falls once more.
  add('c');
  raise('two');
  await committed.tend();
  expect(put.slice(2)).toEqual(['a', 'b', 'c']);
});

test('what the old Postgres commits while the alarm stands is kept, whatever its age, and put in when the alarm ends', async () => {
  const { add, committed, pass, put, raise } = setUp({ keepMs: 1000, maxBytes: 8 });
  add('aa', 'bb');
  raise('one');
  await committed.tend();
  add('cc', 'dd');
  pass(5000);
  add('ee', 'ff');
  await committed.tend();
  expect(put).toEqual(['aa', 'bb']);
  raise(null);
  await committed.tend();
  expect(put.slice(2)).toEqual(['aa', 'bb', 'cc', 'dd', 'ee', 'ff']);
  await committed.tend();
  expect([put.length, committed.counts()]).toEqual([8, { committedMs: 0, putAgain: 8 }]);
});

test('the stream gets no more than it has room for; the rest follows, though newer ones come and the alarm is over', async () => {
  const { add, committed, leaveRoom, pass, put, raise } = setUp({ keepMs: 1000, maxBytes: 8 });
  add('aa', 'bb', 'cc', 'dd');
  raise('one');
  leaveRoom(0);
  await committed.tend();
  expect(put).toEqual([]);
  raise(null);
  leaveRoom(1);
  await committed.tend();
  expect(put).toEqual(['aa']);
  pass(5000);
  add('ee', 'ff');
  leaveRoom(2);
  for (const _ of [1, 2]) await committed.tend();
  expect(put).toEqual(['aa', 'bb', 'cc', 'dd']);
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
  raise(null);
  await committed.tend();
  expect(put.slice(2)).toEqual(['aa', 'bb']);
  add('cc');
  pass(1001);
  add('dd', 'ee', 'ff', 'gg', 'hh');
  raise('two');
  await committed.tend();
  expect(put.slice(4)).toEqual(['ee', 'ff', 'gg', 'hh']);
});

test('it can be switched off', async () => {
  const { add, committed, put, raise } = setUp({ keepMs: 0 });
  add('a');
  raise('one');
  await committed.tend();
  expect(put).toEqual([]);
});
