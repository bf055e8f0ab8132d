import { argon2id } from 'hash-wasm';
import { expect, test } from 'vitest';
import { generateCredential, openCredentials } from './credential.ts';

const right = 'correct horse battery staple';

test('a credential verifies against its own hash alone, and the hash says its cost', async () => {
  const credentials = openCredentials();
  const stored = await credentials.hash(right);
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/);
  expect(await credentials.verify(stored, right)).toBe('right');
  expect(await credentials.verify(stored, `${right} `)).toBe('wrong');
  expect(await credentials.verify(null, right)).toBe('wrong');
  expect(await credentials.hash(right)).not.toBe(stored);
});

test('a right credential that was hashed at another cost is told, so that it can be hashed again', async () => {
  const salt = new Uint8Array(16);
  const cheap = { salt, memorySize: 64, iterations: 1, parallelism: 1, hashLength: 32 };
  const stored = await argon2id({ ...cheap, password: right, outputType: 'encoded' });
  expect(await openCredentials().verify(stored, right)).toBe('outdated');
  expect(await openCredentials().verify(stored, 'wrong')).toBe('wrong');
});

test('a flood is turned away after 16 that wait, and those are still answered', async () => {
  const credentials = openCredentials();
  const verdicts = await Promise.all(Array.from({ length: 40 }, () => credentials.verify(null, 'x')));
  expect(verdicts.filter((verdict) => verdict === 'busy')).toHaveLength(24);
  expect(await credentials.verify(null, 'x')).toBe('wrong');
}, 30_000);

test('generated credentials carry 144 bits and are never the same', () => {
  const made = new Set(Array.from({ length: 100 }, generateCredential));
  expect(made.size).toBe(100);
  for (const credential of made) expect(credential).toMatch(/^([0-9a-f]{6}-){5}[0-9a-f]{6}$/);
});
