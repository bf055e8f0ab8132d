import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quotient, rounded } from './rounded.ts';

test.each([
  ['0.5697063523535', 0.569706352354],
  ['-0.5697063523535', -0.569706352354],
  ['0.56970635235349999999999999999', 0.569706352353],
  ['0.9999999999995', 1],
  ['1234567890125', 1234567890130],
  ['0.000000000000000000012345678901250', 1.23456789013e-20],
  ['-0.3', -0.3],
  ['0.000', 0],
  ['17', 17],
])('%s is rounded to %d', (decimal, expected) => {
  expect(rounded(decimal)).toBe(expected);
});

test('what is rounded is nearest to the decimal, and away from zero at the half', () => {
  const digits = fc.bigInt({ min: 10n ** 12n, max: 10n ** 30n });
  fc.assert(
    fc.property(digits, fc.integer({ min: 1, max: 40 }), fc.boolean(), (integer, places, isHalf) => {
      const text = String(integer);
      const given = isHalf ? `${text.slice(0, 12)}5${'0'.repeat(text.length - 13)}` : text;
      const padded = given.padStart(places + 1, '0');
      const decimal = `${padded.slice(0, -places)}.${padded.slice(-places)}`;
      const unit = 10n ** BigInt(given.length - 12);
      const up = (2n * BigInt(given) + unit) / (2n * unit);
      expect(rounded(decimal)).toBe(Number(`${up}e${given.length - 12 - places}`));
    }),
  );
});

test.each([
  ['0.3', '7', 0.0428571428571],
  ['2', '3', 0.666666666667],
  ['0.000000000001', '9007199254740993', 1.11022302463e-28],
  ['1.234567890125', '1', 1.23456789013],
  ['0.246913578025', '0.2', 1.23456789013],
  ['-1', '8', -0.125],
  ['0.0', '5', 0],
])('%s / %s is %d', (above, below, expected) => {
  expect(quotient(above, below)).toBe(expected);
});
