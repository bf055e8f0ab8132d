import { readSettings } from '@gw/contract/internal/environment';
import { expect, test } from 'vitest';
import { readIntegritySettings } from './config.ts';

const [one, two, three, four] = ['1'.repeat(64), '2'.repeat(64), '3'.repeat(64), '4'.repeat(64)];
const read = (environment: Record<string, string>) => {
  const settings = readSettings({ GW_LEDGER_ENTRY_KEY: three, GW_WITNESS_KEY: four, ...environment });
  const integrity = readIntegritySettings(settings);
  settings.finish();
  return integrity;
};

test('one key is enough; the newest is looked at each minute and everything each hour', () => {
  expect(read({ GW_LEDGER_KEY: one })).toEqual({
    keys: { current: { id: 1, secret: Buffer.from(one, 'hex') }, others: [] },
    entryKeys: { current: { id: 1, secret: Buffer.from(three, 'hex') }, others: [] },
    witnessKeys: { current: Buffer.from(four, 'hex'), previous: null },
    everyS: 60,
    fullS: 3600,
  });
});

test('the keys of before are known by their numbers', () => {
  const { keys } = read({ GW_LEDGER_KEY: two, GW_LEDGER_KEY_ID: '3', GW_LEDGER_KEYS_PREVIOUS: `1:${one},2:${two}` });
  expect([keys.current, ...keys.others].map(({ id }) => id)).toEqual([3, 1, 2]);
  const { entryKeys } = read({
    GW_LEDGER_KEY: one,
    GW_LEDGER_ENTRY_KEY_ID: '2',
    GW_LEDGER_ENTRY_KEYS_PREVIOUS: `1:${two}`,
  });
  expect([entryKeys.current, ...entryKeys.others].map(({ id }) => id)).toEqual([2, 1]);
});

test.each([
  [{}, 'GW_LEDGER_KEY is not set'],
  [{ GW_LEDGER_KEY: 'short' }, 'GW_LEDGER_KEY does not have the right form'],
  [{ GW_LEDGER_KEY: one, GW_LEDGER_KEY_ID: '0' }, 'GW_LEDGER_KEY_ID'],
  [{ GW_LEDGER_KEY: one, GW_LEDGER_KEYS_PREVIOUS: `1:${two}` }, 'each once'],
  [{ GW_LEDGER_KEY: one, GW_LEDGER_KEYS_PREVIOUS: two }, 'GW_LEDGER_KEYS_PREVIOUS does not have the right form'],
  [{ GW_LEDGER_KEY: one, GW_LEDGER_ENTRY_KEY: 'short' }, 'GW_LEDGER_ENTRY_KEY does not have the right form'],
  [{ GW_LEDGER_KEY: one, GW_LEDGER_ENTRY_KEY: one }, 'GW_LEDGER_ENTRY_KEY is the same as GW_LEDGER_KEY'],
  [{ GW_LEDGER_KEY: one, GW_LEDGER_ENTRY_KEYS_PREVIOUS: `1:${two}` }, 'GW_LEDGER_ENTRY_KEYS_PREVIOUS'],
  [
    { GW_LEDGER_KEY: one, GW_LEDGER_KEY_ID: '2', GW_LEDGER_KEYS_PREVIOUS: `1:${three}` },
    'GW_LEDGER_ENTRY_KEY is the same as GW_LEDGER_KEY',
  ],
  [{ GW_LEDGER_KEY: four }, 'GW_WITNESS_KEY is the same as GW_LEDGER_KEY'],
  [{ GW_LEDGER_KEY: one, GW_WITNESS_KEY_PREVIOUS: three }, 'GW_WITNESS_KEY is the same as GW_LEDGER_ENTRY_KEY'],
  [{ GW_LEDGER_KEY: one, GW_INTEGRITY_CHECK_S: '0' }, 'GW_INTEGRITY_CHECK_S'],
])('%j is refused, and no key is told', (environment, message) => {
  let told = '';
  try {
    read(environment as unknown as Record<string, string>);
  } catch (fault) {
    told = String(fault);
  }
  expect(told).toContain(message);
  expect(told).not.toContain(two);
  expect(told).not.toContain(one);
});
