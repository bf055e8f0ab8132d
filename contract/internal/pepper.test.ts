import { expect, test } from 'vitest';
import { readSettings } from './environment.ts';
import { isRetired, pepperOf, readPeppers } from './pepper.ts';

const one = 'ab'.repeat(32);
const two = 'cd'.repeat(32);

function read(environment: Record<string, string>) {
  const settings = readSettings(environment);
  const peppers = readPeppers(settings);
  settings.finish();
  return peppers;
}

test('one pepper has the version 1 unless it says otherwise', () => {
  expect(read({ GW_KEY_PEPPER: one })).toEqual({
    current: { version: 1, secret: Buffer.from(one, 'hex') },
    other: null,
  });
  expect(read({ GW_KEY_PEPPER: one, GW_KEY_PEPPER_VERSION: '4' }).current.version).toBe(4);
});

test('the previous one is of the version before, and each is found by its version', () => {
  const peppers = read({ GW_KEY_PEPPER: two, GW_KEY_PEPPER_VERSION: '2', GW_KEY_PEPPER_PREVIOUS: one });
  expect([1, 2].map((version) => pepperOf(peppers, version)?.secret.toString('hex'))).toEqual([one, two]);
  expect(pepperOf(peppers, 3)).toBeNull();
  expect([0, 1, 2, 3].map((version) => isRetired(peppers, version))).toEqual([true, false, false, false]);
});

test('of versions that are no neighbours the one between is retired too, in whichever order they are given', () => {
  for (const [current, other] of [
    ['3', '1'],
    ['1', '3'],
  ] as const) {
    const versions = { GW_KEY_PEPPER_VERSION: current, GW_KEY_PEPPER_PREVIOUS_VERSION: other };
    const peppers = read({ GW_KEY_PEPPER: two, GW_KEY_PEPPER_PREVIOUS: one, ...versions });
    expect([0, 1, 2, 3, 4].map((version) => isRetired(peppers, version))).toEqual([true, false, true, false, false]);
  }
});

test('two peppers of one version are refused, and no secret is told', () => {
  expect(() => read({ GW_KEY_PEPPER: two, GW_KEY_PEPPER_PREVIOUS: one })).toThrow('GW_KEY_PEPPER_PREVIOUS_VERSION');
  expect(() => read({ GW_KEY_PEPPER: `${two}ff` })).toThrow(/^(?!.*cdcd)/s);
  expect(() => read({ GW_KEY_PEPPER: two, GW_KEY_PEPPER_VERSION: '0' })).toThrow('GW_KEY_PEPPER_VERSION');
});
