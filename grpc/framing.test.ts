import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MessageRoom } from './framing.ts';

test('what has room is never more than there is, unless it is one alone; all have their turn, in order', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 150 }), { maxLength: 30 });
  fc.assert(
    fc.property(sizes, fc.infiniteStream(fc.nat()), (all, picks) => {
      const room = new MessageRoom(100);
      const begun: number[] = [];
      const inside = new Map<number, () => void>();
      const leaves = all.map((size, at) => room.enter(size, () => void begun.push(at)));
      const look = (): void => {
        for (const at of begun) if (leaves[at] && !left.has(at)) inside.set(at, leaves[at]);
        const held = [...inside.keys()].reduce((sum, at) => sum + (all[at] ?? 0), 0);
        expect(held <= 100 || inside.size === 1).toBe(true);
      };
      const left = new Set<number>();
      for (look(); inside.size > 0; look()) {
        const at = [...inside.keys()][(picks.next().value ?? 0) % inside.size] ?? 0;
        left.add(at);
        inside.get(at)?.();
        inside.delete(at);
      }
      expect(begun).toEqual(all.map((_, at) => at));
    }),
  );
});

test('who leaves before there was room is passed over, and leaving twice frees nothing twice', () => {
  const room = new MessageRoom(10);
  const begun: string[] = [];
  const enter = (name: string, size: number) => room.enter(size, () => begun.push(name));
  const first = enter('first', 10);
  const gone = enter('gone', 10);
  enter('second', 6);
  enter('third', 6);
  gone();
  first();
  first();
  expect(begun).toEqual(['first', 'second']);
});
