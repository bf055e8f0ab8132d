import { randomBytes } from 'node:crypto';
import { generateApiKey, hashApiKey } from '@gw/contract/internal/api-key';
import type { Pepper } from '@gw/contract/internal/pepper';
import type { FoundKey } from '@gw/prisma/find-key';
import type { Logger } from '@gw/service/log';
import { storedKey } from '@gw/testing/ext-authz/stored-key';
import { expect, it } from 'vitest';
import { authenticate } from './authenticate.ts';
import { KeyCache } from './key-cache.ts';
import { openRenewal } from './renew-hash.ts';

const pepper = (version: number): Pepper => ({ version, secret: Buffer.alloc(32, version) });
const { plaintext, publicId } = generateApiKey(randomBytes);

const cacheOf = (key: FoundKey | null) =>
  new KeyCache({ find: async () => key }, { now: () => 0, capacity: 10, graceMs: 1, admit: () => 'look_up' });

/** A key that was hashed with the pepper `of`, asked for by an instance that knows `current` and `other`. */
function setUp(of: number, current: number, other: number | null, wrong: readonly number[] = []) {
  const key = storedKey({ publicId, hash: hashApiKey(plaintext, pepper(of).secret), pepperVersion: of });
  const cache = cacheOf(key);
  const renewed: { hash: Buffer; pepperVersion: number }[] = [];
  const log = { warn: () => {} } as unknown as Logger;
  const renew = openRenewal({ current: pepper(current), log, store: async (_key, to) => void renewed.push(to) });
  const peppers = { current: pepper(current), other: other === null ? null : pepper(other) };
  const fits = (version: number) => !wrong.includes(version);
  return { renewed, ask: () => authenticate(`Bearer ${plaintext}`, { cache, peppers, fits, renew, now: () => 0 }) };
}

it('verifies with the previous pepper, and hashes the key once with the current one', async () => {
  const { ask, renewed } = setUp(1, 2, 1);
  expect((await ask()).ok).toBe(true);
  expect((await ask()).ok).toBe(true);
  expect(renewed).toEqual([{ hash: hashApiKey(plaintext, pepper(2).secret), pepperVersion: 2 }]);
});

it('verifies with a pepper that is not the current one yet, and leaves the hash alone', async () => {
  const { ask, renewed } = setUp(2, 1, 2);
  expect((await ask()).ok).toBe(true);
  expect(renewed).toEqual([]);
});

it('refuses a key whose pepper was taken out, and does not judge one whose pepper is only known elsewhere', async () => {
  expect(await setUp(1, 3, 2).ask()).toMatchObject({ ok: false, error: { code: 'invalid_api_key' } });
  await expect(setUp(3, 1, 2).ask()).rejects.toThrow('version 3');
});

it('does not judge a key with a pepper that is known to be wrong, lets in what verifies, and hashes nothing with it', async () => {
  const { ask } = setUp(1, 1, null, [1]);
  expect((await ask()).ok).toBe(true);
  const other = { cache: cacheOf(storedKey({ publicId, hash: Buffer.alloc(32), pepperVersion: 1 })), now: () => 0 };
  const context = { ...other, peppers: { current: pepper(1), other: null }, renew: () => {} };
  await expect(authenticate(`Bearer ${plaintext}`, { ...context, fits: () => false })).rejects.toThrow('version 1');
  expect(await authenticate(`Bearer ${plaintext}`, { ...context, fits: () => true })).toMatchObject({ ok: false });
  const { ask: askAnew, renewed } = setUp(1, 2, 1, [2]);
  expect((await askAnew()).ok).toBe(true);
  expect(renewed).toEqual([]);
});

it('tells apart whose verification failed', async () => {
  const { ask } = setUp(1, 1, null);
  expect(await ask()).toMatchObject({ ok: true });
  const cache = cacheOf(null);
  const context = {
    cache,
    peppers: { current: pepper(1), other: null },
    fits: () => true,
    renew: () => {},
    now: () => 0,
  };
  const whose = async (header?: string) => {
    const result = await authenticate(header, context);
    return result.ok ? 'ok' : result.error.whose;
  };
  expect(await whose()).toBe('missing');
  expect(await whose('Bearer gw_nonsense')).toBe('malformed');
  expect(await whose(`Bearer ${plaintext}`)).toBe('unknown');
  expect(await whose(`Bearer ${plaintext} more`)).toBe('malformed');
});
