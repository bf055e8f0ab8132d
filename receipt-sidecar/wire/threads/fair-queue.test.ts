import { tierLimits } from '@gw/contract/access';
import { expect, test } from 'vitest';
import { bodyThreadBounds } from './body-threads.ts';
import { FairQueue } from './fair-queue.ts';

const bounds = { maxJobs: 6, maxSize: 100, maxJobsOfAccount: 4, maxSizeOfAccount: 50 };
const item = (account: string, size = 1, cost = 1) => ({ account, size, cost });
const never = () => {
  throw new Error('displaced');
};
const drain = (queue: FairQueue<ReturnType<typeof item>>) => {
  const order: string[] = [];
  for (let next = queue.next(); next; next = queue.next()) order.push(next.account);
  return order.join('');
};

test('accounts take turns, however many one of them has waiting', () => {
  const queue = new FairQueue(bounds, never);
  for (const account of ['a', 'a', 'a', 'b', 'c', 'b']) expect(queue.add(item(account))).toBe(true);
  expect(drain(queue)).toBe('abcaba');
});

test('an account with costlier jobs has fewer turns, also if it sends one after the other', () => {
  const queue = new FairQueue(bounds, never);
  for (const job of [item('a', 1, 3), item('a', 1, 3), item('b'), item('b'), item('b')]) queue.add(job);
  expect(drain(queue)).toBe('abbba');
  const one = new FairQueue(bounds, never);
  const order: string[] = [];
  const waiting = new Set<string>();
  for (let turn = 0; turn < 40; turn++) {
    if (!waiting.has('a')) one.add(item('a', 1, 3));
    if (!waiting.has('b')) one.add(item('b'));
    waiting.add('a').add('b');
    const next = one.next();
    if (!next) break;
    one.leave(next);
    waiting.delete(next.account);
    order.push(next.account);
  }
  expect(order.filter((account) => account === 'a')).toHaveLength(10);
});

test('whoever comes while another has many waiting has the next turn, whatever that one has sent', () => {
  const queue = new FairQueue<ReturnType<typeof item>>({ ...bounds, maxJobs: 1000, maxJobsOfAccount: 1000 }, never);
  for (let job = 0; job < 400; job++) queue.add(item('a', 0.1, 100));
  for (let turn = 0; turn < 30; turn++) {
    queue.add(item('b'));
    const two = [queue.next(), queue.next()];
    expect(two.map((each) => each?.account).sort(), String(turn)).toEqual(['a', 'b']);
    for (const each of two) if (each) queue.leave(each);
  }
});

test('an account that has all that it may leaves room for others, until what it has is done', () => {
  const queue = new FairQueue(bounds, never);
  const own = [item('a', 60), item('a', 1)] as const;
  expect(own.map((each) => queue.add(each))).toEqual([true, false]);
  expect(queue.next()).toBe(own[0]);
  expect(queue.add(item('b', 40))).toBe(true);
  expect(queue.next()).toMatchObject({ account: 'b' });
  expect(queue.size).toBe(100);
  // A job that has had its turn does not give way.
  expect(queue.add(item('c', 1))).toBe(false);
  expect(queue.add(own[1])).toBe(false);
  queue.leave(own[0]);
  expect(queue.add(own[1])).toBe(true);
  const gone: unknown[] = [];
  const few = new FairQueue<ReturnType<typeof item>>(bounds, (each) => void gone.push(each.account));
  expect(Array.from({ length: 5 }, () => few.add(item('a')))).toEqual([true, true, true, true, false]);
  expect(['b', 'b', 'b', 'b'].map((account) => few.add(item(account)))).toEqual([true, true, true, false]);
  expect(gone).toEqual(['a']);
});

test('what leaves before its turn is not worked on', () => {
  const queue = new FairQueue(bounds, never);
  const [first, second] = [item('a'), item('a')];
  queue.add(first);
  queue.add(second);
  queue.leave(first);
  expect(queue.next()).toBe(second);
  expect(queue.next()).toBeUndefined();
});

test('where there is no room, the account that holds most gives way with what came last, and never for one that would hold more', () => {
  const gone: ReturnType<typeof item>[] = [];
  const queue = new FairQueue<ReturnType<typeof item>>(bounds, (each) => void gone.push(each));
  const [first, second, third] = [item('a', 20), item('a', 20), item('a', 10)];
  for (const each of [first, second, third, item('b', 40)]) expect(queue.add(each)).toBe(true);
  expect(queue.add(item('c', 15))).toBe(true);
  expect(gone).toEqual([third]);
  expect(queue.size).toBe(95);
  // Accounts with 50 and 40 would hold less than it does.
  expect(queue.add(item('d', 50))).toBe(false);
  expect(gone).toEqual([third]);
  expect(queue.add(item('d', 30))).toBe(true);
  expect(gone.map(({ account }) => account)).toEqual(['a', 'a', 'b']);
  expect(drain(queue)).toBe('acd');
});

test('the burst of an Audit Plus account finds room with the threads, where its bodies go in a crowd', () => {
  const queue = new FairQueue(bodyThreadBounds.bounds.request, never);
  const burst = Array.from({ length: tierLimits.audit_plus.burst }, () => queue.add(item('a', 40 * 1024)));
  expect(burst.filter((isIn) => !isIn)).toEqual([]);
});
