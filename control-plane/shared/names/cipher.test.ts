import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeKey, openName, sealName, unwrapKey, wrapKey } from './cipher.ts';

const key = makeKey();

test('a name is always the same text for one subject, opens for it alone, and not once it was altered', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => {
      const text = sealName(key, 'account:a', name);
      expect(sealName(key, 'account:a', name)).toBe(text);
      expect(openName(key, 'account:a', text)).toBe(name);
      expect(openName(key, 'account:b', text)).toBeNull();
      expect(openName(makeKey(), 'account:a', text)).toBeNull();
      const altered = Buffer.from(text, 'base64url');
      altered[altered.length - 1] = Number(altered.at(-1)) ^ 1;
      expect(openName(key, 'account:a', altered.toString('base64url'))).toBeNull();
    }),
  );
  for (const text of ['', 'AA', '!'.repeat(99)]) expect(openName(key, 'account:a', text)).toBeNull();
});

test('a wrapped key opens by the number of its master key, for its subject alone', () => {
  const master = (id: number) => ({ id, secret: Buffer.alloc(32, id) });
  const stored = wrapKey(master(1), 'account:a', key);
  expect(unwrapKey({ current: master(2), others: [master(1)] }, 'account:a', stored)).toEqual(key);
  expect(unwrapKey({ current: master(1), others: [] }, 'account:b', stored)).toBeNull();
  expect(unwrapKey({ current: master(2), others: [] }, 'account:a', stored)).toBeNull();
  expect(unwrapKey({ current: { ...master(2), id: 1 }, others: [] }, 'account:a', stored)).toBeNull();
});
