import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hmacSha256 } from './hmac.ts';

test('is the HMAC of RFC 4231, test case 2', () => {
  expect(hmacSha256(Buffer.from('Jefe'), 'what do ya want for nothing?').toString('hex')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
});

test("is Node's own, for secrets and texts of any length", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 150 }), fc.string({ unit: 'binary', maxLength: 200 }), (secret, text) => {
      expect(hmacSha256(secret, text)).toEqual(createHmac('sha256', secret).update(text, 'utf8').digest());
    }),
  );
});
