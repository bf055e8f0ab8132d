import { randomBytes } from 'node:crypto';
import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { generateApiKey, hashApiKey, parseApiKey } from './api-key.ts';

const visible = fc.integer({ min: 33, max: 126 }).map((code) => String.fromCharCode(code));
const key = fc.noShrink(fc.constant(null).map(() => generateApiKey(randomBytes)));

test('a generated key has the published shape and parses to its public id', () => {
  fc.assert(
    fc.property(key, ({ plaintext, publicId }) => {
      expect(plaintext).toMatch(/^gw_[0-9A-Za-z]{12}_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$/);
      expect(parseApiKey(plaintext)).toEqual({ publicId, secretAndAll: plaintext });
    }),
  );
});

test('a key with any one character changed is refused', () => {
  fc.assert(
    fc.property(key, fc.nat({ max: 64 }), visible, ({ plaintext }, at, character) => {
      fc.pre(plaintext[at] !== character);
      expect(parseApiKey(plaintext.slice(0, at) + character + plaintext.slice(at + 1))).toBeNull();
    }),
    { numRuns: cases(2000) },
  );
});

test('a key with a character lost or gained is refused', () => {
  fc.assert(
    fc.property(key, fc.nat({ max: 64 }), visible, ({ plaintext }, at, character) => {
      expect(parseApiKey(plaintext.slice(0, at) + plaintext.slice(at + 1))).toBeNull();
      expect(parseApiKey(plaintext.slice(0, at) + character + plaintext.slice(at))).toBeNull();
    }),
  );
});

test('random text is refused, even when it has the shape of a key', () => {
  const shaped = fc.stringMatching(/^gw_[0-9A-Za-z]{12}_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$/);
  fc.assert(
    fc.property(fc.oneof(fc.string(), shaped), (text) => {
      expect(parseApiKey(text)).toBeNull();
    }),
  );
});

test('two keys share neither id nor secret', () => {
  const keys = Array.from({ length: 200 }, () => generateApiKey(randomBytes));
  expect(new Set(keys.map((k) => k.publicId)).size).toBe(200);
  expect(new Set(keys.map((k) => k.plaintext)).size).toBe(200);
});

test('the hash depends on every part of the key and on the pepper', () => {
  const { plaintext } = generateApiKey(randomBytes);
  const pepper = randomBytes(32);
  const hash = hashApiKey(plaintext, pepper);
  expect(hash).toHaveLength(32);
  expect(hashApiKey(plaintext, pepper)).toEqual(hash);
  expect(hashApiKey(`${plaintext}x`, pepper)).not.toEqual(hash);
  expect(hashApiKey(plaintext, randomBytes(32))).not.toEqual(hash);
});
