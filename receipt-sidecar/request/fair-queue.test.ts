import { expect, test } from 'vitest';
import { FairQueue } from './fair-queue.ts';

const bounds = { maxJobs: 6, maxSize: 100, maxJobsOfAccount: 4, maxSizeOfAccount: 50 };
const item = (account: string, size = 1) => ({ account, size });
const drain = (queue: FairQueue<ReturnType<typeof item>>) => {
  const order: string[] = [];
  for (let next = queue.next(); next; next = queue.next()) order.push(next.account);
  return order.join('');
};

test('accounts take turns, however many one of them has waiting', () => {
  const queue = new FairQueue(bounds);
  for (const account of ['a', 'a', 'a', 'b', 'c', 'b']) expect(queue.add(item(account))).toBe(true);
  expect(drain(queue)).toBe('abcaba');
});

test('an account that has all that it may leaves room for others, until what it has is done', () => {
  const queue = new FairQueue(bounds);
  const own = [item('a', 60), item('a', 1)] as const;
  expect(own.map((each) => queue.add(each))).toEqual([true, false]);
  expect(queue.add(item('b', 40))).toBe(true);
  expect(queue.add(item('c', 1))).toBe(false);
  expect(queue.next()).toBe(own[0]);
  expect(queue.add(own[1])).toBe(false);
  queue.leave(own[0]);
  expect(queue.add(own[1])).toBe(true);
  const few = new FairQueue(bounds);
  expect(Array.from({ length: 5 }, () => few.add(item('a')))).toEqual([true, true, true, true, false]);
  expect(['b', 'b', 'b'].map((account) => few.add(item(account)))).toEqual([true, true, false]);
});

test('what leaves before its turn is not worked on', () => {
  const queue = new FairQueue(bounds);
  const [first, second] = [item('a'), item('a')];
  queue.add(first);
  queue.add(second);
  queue.leave(first);
  expect(queue.next()).toBe(second);
  expect(queue.next()).toBeUndefined();
});
