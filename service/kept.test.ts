import { expect, test } from 'vitest';
import { openKept } from './kept.ts';

test('what is not taken stays, in order, and leaves once it is', async () => {
  const kept = openKept(1000);
  for (const id of ['a', 'b', 'c']) kept.add(id, Buffer.from(`entry ${id}`));
  expect(await kept.hand(async (id) => id === 'b')).toBe(1);
  const taken: string[] = [];
  expect(await kept.hand(async (_, entry) => taken.push(entry.toString()) > 0)).toBe(2);
  expect(taken).toEqual(['entry a', 'entry c']);
  expect(kept.size).toBe(0);
});

test('what was replaced while it was handed over is handed over again', async () => {
  const kept = openKept(1000);
  kept.add('a', Buffer.from('first'));
  const taken: string[] = [];
  const take = async (id: string, entry: Buffer): Promise<boolean> => {
    if (taken.push(entry.toString()) === 1) kept.add(id, Buffer.from('second'));
    return true;
  };
  expect(await kept.hand(take)).toBe(1);
  expect(taken).toEqual(['first', 'second']);
});

test('one that has no room leaves the one that it was to replace', async () => {
  const kept = openKept(10);
  kept.add('a', Buffer.from('12345'));
  expect(kept.add('a', Buffer.from('12345678901'))).toBe(false);
  const taken: string[] = [];
  await kept.hand(async (_, entry) => taken.push(entry.toString()) > 0);
  expect(taken).toEqual(['12345']);
});

test('above its bound it takes nothing more, counts what is lost, and has room again afterwards', async () => {
  const kept = openKept(10);
  expect([
    kept.add('a', Buffer.from('12345')),
    kept.add('b', Buffer.from('12345')),
    kept.add('c', Buffer.from('1')),
  ]).toEqual([true, true, false]);
  expect(kept.lost).toBe(1);
  expect(kept.add('a', Buffer.from('123'))).toBe(true);
  await kept.hand(async () => true);
  expect(kept.add('c', Buffer.from('1234567890'))).toBe(true);
});
