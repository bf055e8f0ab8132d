import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openSmallBodies } from './small-bodies.ts';

test('of all that an account sends, less than 64 KiB are not taken, and a large body is taken by itself', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.integer({ min: 1, max: 200 }))), (calls) => {
      const small = openSmallBodies();
      const left = new Map<string, number>();
      for (const [account, kib] of calls) {
        const due = small.due(account, kib);
        if (kib >= 64) expect(due).toBe(kib);
        const rest = (left.get(account) ?? 0) + kib - due;
        left.set(account, rest);
        expect(rest).toBeGreaterThanOrEqual(0);
        expect(rest).toBeLessThan(64);
      }
    }),
  );
});

test('a call without a body takes nothing', () => {
  const small = openSmallBodies();
  small.due('a', 63);
  expect(small.due('a', 0)).toBe(0);
  expect(small.due('a', 1)).toBe(64);
});
