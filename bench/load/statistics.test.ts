import fc from 'fast-check';
import { expect, test } from 'vitest';
import { difference, median, medianOf, percentile, rangeOf, ratio } from './statistics.ts';

const values = fc.array(fc.double({ min: -1e9, max: 1e9, noNaN: true }), { minLength: 1 });

test('the median has as many values below as above it, in whatever order they come', () => {
  fc.assert(
    fc.property(values, (list) => {
      const middle = median(list) ?? Number.NaN;
      expect(list.filter((value) => value < middle).length).toBeLessThanOrEqual(list.length / 2);
      expect(list.filter((value) => value > middle).length).toBeLessThanOrEqual(list.length / 2);
      expect(median([...list].reverse())).toBe(middle);
    }),
  );
  expect(median([9, 100, 10])).toBe(10);
  expect(median([1, 2, 3, 10])).toBe(2.5);
});

test('a percentile is a value of the list with that share at or below it', () => {
  fc.assert(
    fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (list, share) => {
      const value = percentile(list, share) ?? Number.NaN;
      expect(list).toContain(value);
      expect(list.filter((other) => other <= value).length).toBeGreaterThanOrEqual(share * list.length);
    }),
  );
  expect(percentile([10, 9, 100], 0.99)).toBe(100);
  expect(percentile([4, 3, 2, 1], 0.5)).toBe(2);
});

test('a range is from the lowest to the highest figure, and holds the median', () => {
  fc.assert(
    fc.property(values, (list) => {
      const { highest = Number.NaN, lowest = Number.NaN } = rangeOf(list, (value) => value) ?? {};
      const middle = median(list) ?? Number.NaN;
      expect(lowest <= middle && middle <= highest).toBe(true);
      expect(list).toEqual(expect.arrayContaining([lowest, highest]));
    }),
  );
  expect(rangeOf([10, 9, 100], (value) => (value === 9 ? null : value))).toEqual({ lowest: 10, highest: 100 });
});

test('nothing measured is null, never 0', () => {
  expect([median([]), percentile([], 0.5), medianOf([], () => 1), rangeOf([], () => 1)]).toEqual(Array(4).fill(null));
  expect([ratio(1, 0), ratio(null, 1), ratio(1, undefined), difference(1, null)]).toEqual([null, null, null, null]);
  expect(medianOf([1, 2, 3], (value) => (value === 2 ? null : value))).toBe(2);
});
