import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openSmallBodies } from './small-bodies.ts';

test('of all that an account sends, less than 64 KiB are not taken, and a large body is taken by itself', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.integer({ min: 1, max: 200 }), fc.boolean())),
      (calls) => {
        const small = openSmallBodies();
        const left = new Map<string, number>();
        for (const [account, kib, isLetIn] of calls) {
          const due = small.due(account, kib);
          if (kib >= 64) expect(due).toBe(kib);
          if (!isLetIn) {
            small.undo(account, kib, due);
            continue;
          }
          const rest = (left.get(account) ?? 0) + kib - due;
          left.set(account, rest);
          expect(rest).toBeGreaterThanOrEqual(0);
          expect(rest).toBeLessThan(64);
        }
      },
    ),
  );
});

test('what others have sent stays due if the call that was to take it is not let in, and its own body is not', () => {
  const small = openSmallBodies();
  expect([small.due('a', 50), small.due('a', 40)]).toEqual([0, 90]);
  // Others come before it is decided.
  expect(small.due('a', 10)).toBe(0);
  small.undo('a', 40, 90);
  expect(small.due('a', 5)).toBe(65);
  small.due('a', 20);
  small.undo('a', 20, 0);
  expect(small.due('a', 63)).toBe(0);
});

test('a call without a body takes nothing', () => {
  const small = openSmallBodies();
  small.due('a', 63);
  expect(small.due('a', 0)).toBe(0);
  expect(small.due('a', 1)).toBe(64);
});
