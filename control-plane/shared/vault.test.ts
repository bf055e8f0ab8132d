import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createVault } from './vault.ts';

const binding = { name: 'ACME', origin: 'https://llm.example.com' };
const [key, other] = [randomBytes(32), randomBytes(32)];
const value = 'sk-0123456789';

test('what is sealed opens for its name and origin, and never looks the same twice', () => {
  const vault = createVault([key]);
  const [one, two] = [vault.seal(value, binding), vault.seal(value, binding)];
  expect(vault.open(one, binding)).toEqual({ value, isCurrent: true });
  expect(one.equals(two)).toBe(false);
  expect(one.includes(value)).toBe(false);
});

test('it opens for no other name or origin, with no other key, and not if any bit was altered', () => {
  const vault = createVault([key]);
  const sealed = vault.seal(value, binding);
  expect(vault.open(sealed, { ...binding, name: 'OTHER' })).toBeNull();
  expect(vault.open(sealed, { ...binding, origin: 'https://evil.example' })).toBeNull();
  expect(createVault([other]).open(sealed, binding)).toBeNull();
  for (let at = 0; at < sealed.length; at += 1) {
    const altered = Buffer.from(sealed);
    altered.writeUInt8(altered.readUInt8(at) ^ 1, at);
    expect(vault.open(altered, binding), `byte ${at}`).toBeNull();
    expect(vault.open(sealed.subarray(0, at), binding), `cut at ${at}`).toBeNull();
  }
});

test('while the key is exchanged, the one before still opens, and the new one seals', () => {
  const before = createVault([key]).seal(value, binding);
  const both = createVault([other, key]);
  expect(both.open(before, binding)).toEqual({ value, isCurrent: false });
  expect(createVault([other]).open(both.seal(value, binding), binding)).toEqual({ value, isCurrent: true });
});
