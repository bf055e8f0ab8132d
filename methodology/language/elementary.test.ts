import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exp, ln } from './elementary.ts';

/** Published numbers were made with Node 24; other engines may differ from it, and these functions may not. */
const isNode24 = process.versions.node.startsWith('24.');

/** So many numbers, the same in each run. */
function* between(least: number, most: number, count: number): Generator<number> {
  let state = 42;
  for (let at = 0; at < count; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const first = state;
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield least + ((first + state / 2 ** 32) / 2 ** 32) * (most - least);
  }
}

describe.runIf(isNode24)('they are to the bit what the published methodologies were made with', () => {
  it('exp', () => {
    for (const range of [0.4, 1.1, 3, 50, 690])
      for (const power of between(-range, range, 100_000))
        if (exp(power) !== Math.exp(power)) expect(exp(power)).toBe(Math.exp(power));
    for (const power of [
      0,
      -0,
      1,
      -1,
      1e-9,
      1e-300,
      709,
      -745,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
    ])
      expect(exp(power)).toBe(Math.exp(power));
  });
  it('ln', () => {
    for (const [least, most] of [
      [0, 1],
      [0.9, 1.1],
      [0.999999, 1.000001],
      [1, 100],
      [1, 1e15],
      [0, 1e-300],
    ] as const)
      for (const value of between(least, most, 100_000))
        if (ln(value) !== Math.log(value)) expect(ln(value)).toBe(Math.log(value));
    for (const value of [
      0,
      -0,
      -1,
      1,
      2,
      1024,
      0.5,
      5e-324,
      1.7976931348623157e308,
      Number.NaN,
      Number.POSITIVE_INFINITY,
    ])
      expect(ln(value)).toBe(Math.log(value));
  });
});

it('they are close to what any engine says', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
      fc.double({ min: -20, max: 20, noNaN: true }),
      (base, power) => {
        for (const [ours, theirs] of [
          [exp(power), Math.exp(power)],
          [ln(base), Math.log(base)],
        ] as const)
          expect(Math.abs(ours - theirs)).toBeLessThanOrEqual(4 * Number.EPSILON * Math.abs(theirs));
      },
    ),
  );
});
