import { readSettings } from '@gw/contract/internal/environment';
import { expect, test } from 'vitest';
import { readReplyCipher } from './settings.ts';

const old = 'a'.repeat(64);
const current = 'b'.repeat(64);
const cipherOf = (environment: Readonly<Record<string, string>>) => {
  const settings = readSettings(environment);
  const cipher = readReplyCipher(settings);
  settings.finish();
  return cipher;
};

test('stored replies need a key of 64 hexadecimal digits, and an error does not show what was given', () => {
  for (const wrong of [{}, { GW_IDEMPOTENCY_KEY: 'tooshort' }, { GW_IDEMPOTENCY_KEY: `${old}a` }])
    expect(() => cipherOf(wrong)).toThrow(/GW_IDEMPOTENCY_KEY.*openssl rand -hex 32/);
  expect(() => cipherOf({ GW_IDEMPOTENCY_KEY: 'tooshort' })).not.toThrow('tooshort');
  expect(() => cipherOf({ GW_IDEMPOTENCY_KEY: current, GW_IDEMPOTENCY_KEY_PREVIOUS: 'x' })).toThrow(/_PREVIOUS/);
});

test('the key before goes on opening what it has sealed, and no other key does', async () => {
  const reply = { status: 200, headers: {}, body: [Buffer.from('x')] };
  const sealed = await cipherOf({ GW_IDEMPOTENCY_KEY: old }).seal(reply, 'here');
  const exchanged = cipherOf({ GW_IDEMPOTENCY_KEY: current, GW_IDEMPOTENCY_KEY_PREVIOUS: old });
  expect(await exchanged.open(sealed, 'here')).toEqual(reply);
  expect(await cipherOf({ GW_IDEMPOTENCY_KEY: current }).open(sealed, 'here')).toBeNull();
  expect(await exchanged.open(sealed, 'there')).toBeNull();
  sealed[20] = (sealed[20] ?? 0) ^ 1;
  expect(await exchanged.open(sealed, 'here')).toBeNull();
});
