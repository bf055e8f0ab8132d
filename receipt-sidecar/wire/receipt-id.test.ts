import fc from 'fast-check';
import { expect, it } from 'vitest';
import { newReceiptId } from './receipt-id.ts';

it('an id is a UUIDv7 that holds the time of its call', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (ms) => {
      const id = newReceiptId(ms);
      expect(id).toMatch(/^rcpt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(Number.parseInt(id.slice(5, 18).replace('-', ''), 16)).toBe(ms);
    }),
  );
});
