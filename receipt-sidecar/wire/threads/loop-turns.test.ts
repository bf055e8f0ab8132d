import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { loopBounds } from './body-threads.ts';
import { LoopTurns } from './loop-turns.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const kib = 1024;

/** A loop whose turns and time the test makes; each piece of work takes as many ms as it says. */
function loopForTests(changed: Partial<typeof loopBounds> = {}) {
  let nowMs = 0;
  const next: (() => void)[] = [];
  const done: string[] = [];
  const ends: string[] = [];
  const gone = new Map<string, () => void>();
  const turns = new LoopTurns({
    ...loopBounds,
    ...changed,
    clock: () => nowMs,
    afterEvents: (then) => void next.push(then),
    onEnd: (outcome, _, account) => void ends.push(`${account} ${outcome}`),
  });
  const send = (
    account: string,
    { ms = 1, size = kib, cost = size }: { ms?: number; size?: number; cost?: number } = {},
  ) =>
    turns.run<string>({
      account,
      size,
      costOf: () => cost,
      run: () => {
        nowMs += ms;
        done.push(account);
        return 'done';
      },
      refuse: (why) => why,
      onGone: (then) => void gone.set(account, then),
    });
  /** One turn of the loop: what was put off until after the events. */
  const turn = () => {
    for (const each of next.splice(0)) each();
  };
  return { send, turn, done, ends, gone, turns, isIdle: () => next.length === 0 };
}

describe('a loop', () => {
  test('that has time does the work at once, without a promise', () => {
    const { done, ends, isIdle, send, turn } = loopForTests();
    for (let calls = 0; calls < 50; calls++) {
      expect(send('a')).toBe('done');
      turn();
    }
    expect([done.length, ends, isIdle()]).toEqual([50, [], true]);
  });

  test('that has worked for its turn puts the rest off, and does one piece in each turn, in order', async () => {
    const { done, isIdle, send, turn } = loopForTests();
    const sent = Array.from({ length: 10 }, () => send('a'));
    expect(done).toHaveLength(loopBounds.turnMs);
    for (let turns = 1; turns <= 7; turns++) {
      turn();
      expect(done).toHaveLength(loopBounds.turnMs + turns);
    }
    expect(await Promise.all(sent)).toEqual(Array(10).fill('done'));
    turn();
    expect(isIdle()).toBe(true);
  });

  test.each([
    ['1 KiB', kib],
    ['63 KiB', 63 * kib],
    ['127 KiB', 127 * kib],
  ])('with 400 bodies of %s of one account does those of others in their next turns', async (_, size) => {
    const { done, send, turn } = loopForTests();
    const flood = Array.from({ length: 400 }, () => send('flood', { ms: 10, size }));
    for (const other of ['b', 'c', 'd', 'b', 'c', 'd']) {
      const sent = send(other, { ms: 0, size: 90 });
      const before = done.length;
      while (!done.slice(before).includes(other)) turn();
      // At most one body of the flood goes first.
      expect(done.length - before).toBeLessThanOrEqual(2);
      expect(await sent).toBe('done');
    }
    while (done.length < 406) turn();
    expect(await Promise.all(flood)).toEqual(Array(400).fill('done'));
  });

  test('gives accounts turns by what their work costs, not by how many pieces they send', () => {
    const { done, send, turn } = loopForTests();
    void send('first', { ms: 3 });
    for (let pieces = 0; pieces < 40; pieces++) {
      void send('heavy', { cost: 100 });
      void send('light', { cost: 25 });
    }
    for (let turns = 0; turns < 50; turns++) turn();
    const light = done.filter((account) => account === 'light').length;
    expect([done.length, light]).toEqual([51, 40]);
  });
});

describe('work that finds no turn is refused and never done', () => {
  test('where it waits too long', async () => {
    const { done, ends, send, turn } = loopForTests();
    void send('a', { ms: 3 });
    const late = send('a');
    await vi.advanceTimersByTimeAsync(loopBounds.waitMs);
    expect(await late).toBe('late');
    turn();
    expect([done, ends]).toEqual([['a'], ['a late']]);
    expect(send('a')).toBe('done');
  });

  test('where its account has too many waiting; others still find room', async () => {
    const { done, send, turn, turns } = loopForTests();
    void send('a', { ms: 3 });
    const { maxJobsOfAccount, maxSizeOfAccount } = loopBounds.bounds;
    const sent = Array.from({ length: maxJobsOfAccount + 1 }, () => send('a'));
    expect(await sent.at(-1)).toBe('full');
    expect(turns.waiting).toBe(maxJobsOfAccount);
    const large = [send('b', { size: maxSizeOfAccount }), send('b')];
    expect(await large[1]).toBe('full');
    turn();
    turn();
    expect(done).toEqual(['a', 'a', 'b']);
  });

  test('where nobody needs it any more', async () => {
    const { done, gone, send, turn } = loopForTests();
    void send('a', { ms: 3 });
    const left = send('b');
    gone.get('b')?.();
    expect(await left).toBe('late');
    turn();
    expect(done).toEqual(['a']);
  });

  test('and an error of one piece is its own', async () => {
    const { send, turn, turns } = loopForTests();
    void send('a', { ms: 3 });
    const broken = turns.run({
      account: 'b',
      size: 1,
      costOf: () => 1,
      run: () => {
        throw new RangeError('broken');
      },
      refuse: () => 'refused',
      onGone: () => undefined,
    });
    const next = send('c');
    const failed = expect(broken).rejects.toThrow('broken');
    turn();
    turn();
    await failed;
    expect(await next).toBe('done');
  });
});
