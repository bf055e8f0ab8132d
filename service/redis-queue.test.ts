import { expect, test } from 'vitest';
import { openQueue } from './redis-queue.ts';

test('whoever waits too long is told so, also after thousands have had their replies', () => {
  const queue = openQueue();
  const told: number[] = [];
  const add = (sentAt: number) =>
    queue.add({
      replies: [],
      size: 1,
      sentAt,
      isPatient: false,
      resolve: () => undefined,
      reject: () => void told.push(sentAt),
    });
  for (let at = 0; at < 3000; at++) add(at);
  queue.giveUpBefore(2999);
  expect(told).toHaveLength(3000);
  for (let at = 0; at < 3000; at++) expect(queue.take('late')).toBe(true);
  told.length = 0;
  for (const at of [3000, 3001, 3002]) add(at);
  queue.giveUpBefore(3001);
  expect(told).toEqual([3000, 3001]);
  expect(queue.oldestSentAt()).toBe(3000);
});
