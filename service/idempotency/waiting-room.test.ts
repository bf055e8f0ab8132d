/** How those who wait are let go when a large reply has come. */
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Look, WaitingRoom } from './waiting-room.ts';

const mib = 1024 * 1024;

/** A room whose replies have that many bytes; `over` ends the calls that have got theirs. */
function openRoom(bytes: number) {
  const room = new WaitingRoom<string>({
    tooLong: (waited) => (waited ? 'too long' : 'crowded'),
    unclaimed: () => undefined,
    bytesOf: (found) => (found === 'reply' ? bytes : 0),
  });
  const answers: string[] = [];
  const answered: (() => void)[] = [];
  const ask = async (
    waits: (waiting: { mostMs: number; bytes: number; onGone(then: () => void): void }) => unknown,
  ) => {
    let end = () => {};
    const onGone = (then: () => void) => {
      end = then;
    };
    answers.push(String(await waits({ mostMs: 300, bytes: 10, onGone })));
    answered.push(() => end());
  };
  const look = async (): Promise<Look<string>> => ({ for: 'all', found: 'reply' });
  return {
    answers,
    wait: (account = 'a') => ask((waiting) => room.wait('key', account, waiting, look)),
    pass: (account = 'a') => ask((waiting) => room.pass('reply', account, waiting)),
    over: () => {
      for (const end of answered.splice(0)) end();
    },
    settled: async () => {
      room.wake('key');
      for (let turns = 0; turns < 10; turns += 1) await turn();
    },
  };
}

test('a large reply goes to as many as fit in 8 MiB, and to the next ones when their calls are over', async () => {
  const { answers, over, settled, wait } = openRoom(2 * mib);
  const waits = Array.from({ length: 10 }, () => wait());
  for (const out of [4, 8, 10]) {
    await settled();
    expect(answers).toEqual(Array(out).fill('reply'));
    over();
  }
  await Promise.all(waits);
});

test('one goes out even if it is larger than that; a small one goes to all at once', async () => {
  const large = openRoom(20 * mib);
  const waits = [large.wait(), large.wait()];
  await large.settled();
  expect(large.answers).toEqual(['reply']);
  large.over();
  await Promise.all(waits);
  const small = openRoom(1000);
  const all = Array.from({ length: 200 }, () => small.wait());
  await small.settled();
  expect(small.answers.length).toBe(200);
  await Promise.all(all);
});

test('whose turn does not come in time is told to come back, and counts as waiting until then', async () => {
  const { answers, over, pass, settled } = openRoom(2 * mib);
  // Four are out; seven more would hold 14 MiB, an eighth would be more than an account has.
  const passes = Array.from({ length: 12 }, () => pass());
  await settled();
  expect(answers.sort()).toEqual(['crowded', ...Array(4).fill('reply')]);
  const theirs = pass('b');
  await delay(400);
  expect(answers.slice(5)).toEqual(Array(8).fill('too long'));
  over();
  await pass();
  expect(answers.at(-1)).toBe('reply');
  await Promise.all([...passes, theirs]);
});

test('a call that is never over gives its room back after a while', async () => {
  const { answers, pass } = openRoom(8 * mib);
  await pass();
  await pass().then(() => expect(answers.at(-1)).toBe('too long'));
  await delay(1000);
  await pass();
  expect(answers).toEqual(['reply', 'too long', 'reply']);
});
