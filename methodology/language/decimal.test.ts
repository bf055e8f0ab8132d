import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exact, significantDigits } from '../testdata/exact-decimal.ts';
import { decimal, decimalSum } from './decimal.ts';

const magnitudes = fc
  .tuple(fc.double({ min: 1, max: 10, noNaN: true }), fc.integer({ min: -250, max: 250 }))
  .map(([mantissa, exponent]) => mantissa * 10 ** exponent);
const everyday = fc.double({ min: 0, max: 1000, noNaN: true });
const parts = fc.array(fc.oneof(magnitudes, everyday, fc.constant(0)), { minLength: 1, maxLength: 5 });

describe('decimalSum', () => {
  it('prints parts that add up digit by digit to the printed total', () => {
    fc.assert(
      fc.property(parts, (values) => {
        const sum = decimalSum(values);
        expect(sum.parts.reduce((total, part) => total + exact(part), 0n)).toBe(exact(sum.total));
      }),
      { numRuns: cases(5000) },
    );
  });

  it('keeps at most 12 significant digits of the total and of each part', () => {
    fc.assert(
      fc.property(parts, (values) => {
        const sum = decimalSum(values);
        for (const value of [sum.total, ...sum.parts]) expect(significantDigits(value)).toBeLessThanOrEqual(12);
      }),
    );
  });

  it('stays within the rounding of each part', () => {
    fc.assert(
      fc.property(parts, (values) => {
        const wanted = values.reduce((a, b) => a + b, 0);
        expect(Math.abs(decimalSum(values).total - wanted)).toBeLessThanOrEqual(wanted * 5e-11 + 1e-290);
      }),
    );
  });

  it('drops a place where rounding up would make a thirteenth digit', () => {
    const sum = decimalSum([0.4999999999996, 0.4999999999996, 0.0000000000006]);
    expect(significantDigits(sum.total)).toBeLessThanOrEqual(12);
    expect(sum.parts.reduce((total, part) => total + exact(part), 0n)).toBe(exact(sum.total));
  });

  it('is zero, never -0, for nothing at all', () => {
    for (const value of [decimalSum([0, -0]).total, ...decimalSum([0, -0]).parts, decimal(-0)]) {
      expect(Object.is(value, 0)).toBe(true);
    }
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1e-9])('answers NaN for %s', (value) => {
    expect(decimalSum([1, value]).total).toBeNaN();
  });

  it.each([
    [1 / 3, 0.333333333333],
    [1e-7 / 3, 3.33333333333e-8],
    [123456789012345, 123456789012000],
    [1000, 1000],
    [0.1 + 0.2, 0.3],
  ])('prints %s as %s', (value, printed) => {
    expect(decimal(value)).toBe(printed);
  });
});
