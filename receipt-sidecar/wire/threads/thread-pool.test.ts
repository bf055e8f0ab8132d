import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { err, ok } from '@gw/contract/internal/result';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ThreadPool, type ThreadPoolOptions, type Work } from './thread-pool.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A thread that answers its jobs when the test tells it to. */
class FakeThread extends EventEmitter {
  readonly given: { readonly id: number; readonly job: string }[] = [];
  ended = 0;
  postMessage(message: { id: number; job: string }): void {
    this.given.push(message);
  }
  answer(fields: object = { result: 'done' }): void {
    this.emit('message', { id: this.given.at(-1)?.id, ...fields });
  }
  ref = () => undefined;
  unref = () => undefined;
  terminate = async () => ++this.ended;
}

const bounds = { maxJobs: 8, maxSize: 100, maxJobsOfAccount: 4, maxSizeOfAccount: 50 };

function poolForTests(changed: Partial<ThreadPoolOptions> = {}) {
  const threads: FakeThread[] = [];
  const errors: string[] = [];
  const ends: string[] = [];
  const pool = new ThreadPool({
    bounds: { request: bounds, reply: bounds },
    threads: 1,
    waitMs: 1000,
    answerMs: 500,
    idleMs: 5000,
    start: () => threads[threads.push(new FakeThread()) - 1] as unknown as Worker,
    clock: () => Date.now(),
    onError: (reason) => void errors.push(reason),
    onEnd: (lane, outcome) => void ends.push(`${lane} ${outcome}`),
    onTurn: () => undefined,
    ...changed,
  });
  const run = (job: string, fields: Partial<Omit<Work, 'message'>> = {}) => {
    const made = { account: 'a', size: 1, cost: 1, lane: 'request' as const, ...fields };
    return pool.run({ ...made, message: () => ({ job, transfer: [] }) });
  };
  const jobs = () => threads.map(({ given }) => given.map(({ job }) => job).join(''));
  return { pool, run, threads, errors, ends, jobs };
}
const failed = (why: string) => err(why);
const done = ok('done');

describe('a pool', () => {
  it('gives a thread one job at a time, and starts another thread only for a job that would wait', async () => {
    const { jobs, run, threads } = poolForTests({ threads: 2 });
    const first = run('1');
    threads[0]?.answer();
    expect(await first.outcome).toEqual(done);
    for (const job of ['2', '3', '4']) run(job);
    expect(jobs()).toEqual(['12', '3']);
    threads[1]?.answer();
    expect(jobs()).toEqual(['12', '34']);
  });

  it('ends a job that cannot be told to a thread, and gives the thread the next one', async () => {
    const { errors, jobs, pool, run, threads } = poolForTests();
    const first = run('1');
    const told: string[] = [];
    const broken = (message: () => never) => pool.run({ account: 'a', size: 1, cost: 1, lane: 'request', message });
    const unmade = broken(() => {
      throw new RangeError();
    });
    const unsent = pool.run({
      account: 'a',
      size: 1,
      cost: 1,
      lane: 'request',
      message: () => ({ job: 'unsent', transfer: [], onTold: () => void told.push('unsent') }),
    });
    const last = run('2');
    const [thread] = threads;
    if (!thread) throw new Error('There is no thread.');
    const post = thread.postMessage.bind(thread);
    thread.postMessage = (message) => {
      if (message.job === 'unsent') throw new DOMException('text of a client', 'DataCloneError');
      post(message);
    };
    // As from the thread: what is thrown here would end the process.
    thread.answer();
    expect(await Promise.all([first, unmade, unsent].map(({ outcome }) => outcome))).toEqual([
      done,
      failed('failed'),
      failed('failed'),
    ]);
    expect([jobs(), errors, told, pool.bytes('request')]).toEqual([['12'], ['RangeError', 'DataCloneError'], [], 1]);
    thread.answer();
    expect(await last.outcome).toEqual(done);
  });

  it('lets accounts take turns, and requests and replies', () => {
    const { jobs, run, threads } = poolForTests();
    for (const job of ['1', '2', '3']) run(job);
    run('b', { account: 'b' });
    run('R', { lane: 'reply' });
    for (let left = 5; left > 0; left--) threads[0]?.answer();
    expect(jobs()[0]).toHaveLength(5);
    expect(jobs()[0]?.indexOf('b')).toBeLessThan(4);
    expect(jobs()[0]?.indexOf('R')).toBeLessThan(3);
  });

  it('has three replies read before each request that waits', () => {
    const { jobs, run, threads } = poolForTests();
    run('0');
    for (const job of ['1', '2']) run(job);
    for (const job of ['a', 'b', 'c', 'd']) run(job, { lane: 'reply' });
    for (let left = 7; left > 0; left--) threads[0]?.answer();
    expect(jobs()).toEqual(['0abc1d2']);
  });

  it('takes no more than it has room for, and gives the room back', async () => {
    const { pool, run, threads } = poolForTests();
    const taken = run('1', { size: 50 });
    expect(pool.bytes('request')).toBe(50);
    expect(await run('2', { size: 1 }).outcome).toEqual(failed('full'));
    expect(pool.bytes('reply')).toBe(0);
    threads[0]?.answer();
    expect(await taken.outcome).toEqual(done);
    expect(pool.bytes('request')).toBe(0);
  });

  it('tells what had to give way to another account that there is no room', async () => {
    const { pool, run } = poolForTests();
    run('1', { size: 30, account: 'x' });
    const last = [run('2', { size: 40 }), run('3', { size: 10 })];
    const other = run('4', { size: 30, account: 'b' });
    expect(await last[1]?.outcome).toEqual(failed('full'));
    expect(await Promise.race([other.outcome, last[0]?.outcome, 'both wait'])).toBe('both wait');
    expect(pool.bytes('request')).toBe(100);
  });
});

describe('a job ends without a result', () => {
  it('when it waits too long for its turn, alone: the thread that is busy with another one goes on', async () => {
    const { ends, errors, run, threads } = poolForTests({ answerMs: 5000 });
    const first = run('1');
    const second = run('2');
    await vi.advanceTimersByTimeAsync(1000);
    expect(await second.outcome).toEqual(failed('late'));
    expect([threads.length, threads[0]?.ended, errors]).toEqual([1, 0, []]);
    threads[0]?.answer();
    expect(await first.outcome).toEqual(done);
    expect(ends).toEqual(['request late', 'request done']);
  });

  it('sooner, if it has less patience than others', async () => {
    const { run } = poolForTests({ answerMs: 5000 });
    run('1');
    const [patient, hasty] = [run('2'), run('3', { waitMs: 300 })];
    await vi.advanceTimersByTimeAsync(300);
    expect(await hasty.outcome).toEqual(failed('late'));
    expect(await Promise.race([patient.outcome, 'waits'])).toBe('waits');
  });

  it('when its thread is stuck with it, and the next one gets a new thread', async () => {
    const { errors, jobs, run, threads } = poolForTests();
    const [first, second] = [run('1'), run('2')];
    await vi.advanceTimersByTimeAsync(500);
    expect(await first.outcome).toEqual(failed('stuck'));
    expect([errors, threads[0]?.ended, jobs()]).toEqual([['stuck'], 1, ['1', '2']]);
    // Too late: the answer is nobody's.
    threads[0]?.answer();
    threads[1]?.answer();
    expect(await second.outcome).toEqual(done);
  });

  it('when its thread dies, and the next one gets a new thread', async () => {
    const { errors, jobs, run, threads } = poolForTests();
    const [first, second] = [run('1'), run('2')];
    threads[0]?.emit('error', new RangeError('of a text'));
    threads[0]?.emit('exit', 1);
    expect(await first.outcome).toEqual(failed('died'));
    expect([errors, jobs()]).toEqual([['RangeError'], ['1', '2']]);
    threads[1]?.answer({ error: 'TypeError' });
    expect(await second.outcome).toEqual(failed('failed'));
    expect(errors).toEqual(['RangeError', 'TypeError']);
  });

  it('when it is cancelled before its turn, and never once it has had it', async () => {
    const { jobs, run, threads } = poolForTests();
    const [first, second, third] = [run('1'), run('2'), run('3')];
    first.cancel();
    second.cancel();
    expect(await second.outcome).toEqual(failed('late'));
    threads[0]?.answer();
    expect(await first.outcome).toEqual(done);
    expect(jobs()).toEqual(['13']);
    threads[0]?.answer();
    expect(await third.outcome).toEqual(done);
  });

  it('when the pool is stopped', async () => {
    const { pool, run, threads } = poolForTests();
    const both = [run('1'), run('2')];
    await pool.stop();
    expect(await Promise.all(both.map(({ outcome }) => outcome))).toEqual([failed('died'), failed('died')]);
    expect(threads[0]?.ended).toBe(1);
    expect(await run('3').outcome).toEqual(failed('full'));
  });
});

it('the time for an answer is that of the job which the thread has, not of the ones that wait', async () => {
  const { errors, run, threads } = poolForTests({ waitMs: 10_000 });
  const all = Array.from({ length: 4 }, (_, at) => run(String(at)).outcome);
  for (const _ of all) {
    await vi.advanceTimersByTimeAsync(400);
    threads[0]?.answer();
  }
  expect(await Promise.all(all)).toEqual(Array(4).fill(done));
  expect(errors).toEqual([]);
});

it('a thread that has nothing to do for long is ended, which is no error, and the next job starts one', async () => {
  const { errors, jobs, run, threads } = poolForTests();
  run('1');
  threads[0]?.answer();
  await vi.advanceTimersByTimeAsync(5000);
  threads[0]?.emit('exit', 1);
  expect([threads[0]?.ended, errors]).toEqual([1, []]);
  run('2');
  expect(jobs()).toEqual(['1', '2']);
});
