/** The model of writing follows from what was measured, and its bounds hold nine of ten of that. */
import { describe, expect, it } from 'vitest';
import { writing } from '../documents/factors.ts';
import { ofConfigurations } from '../documents/measured-ratios.ts';
import { coverage, ratios } from './coverage.ts';
import { fit } from './fit-serving.ts';
import { measurements } from './measurements.ts';

const all = measurements();
const energy = [writing.whPerWeightGb, writing.whPerActiveB, writing.whPerContext, writing.whPerToken];
const time = [writing.sPerWeightGb, writing.sPerActiveB, writing.sPerContext, writing.sPerToken];

describe('the coefficients', () => {
  it.each([
    ['of energy', energy, ({ whPerToken }: (typeof all)[number]) => whPerToken],
    ['of time', time, ({ gpuSecondsPerToken }: (typeof all)[number]) => gpuSecondsPerToken],
  ] as const)('%s are those of the fit, to three digits', (_, coefficients, figureOf) => {
    expect(fit(all, figureOf).map((each) => Number(each.toPrecision(3)))).toEqual(coefficients);
  });
});

describe('the bounds', () => {
  const rows = coverage();

  it('have the ratios that follow from the configurations', () => {
    expect(ratios()).toEqual(ofConfigurations);
  });

  it('hold 85 to 95 % of the configurations where the bits are stated, and no fewer where they are not', () => {
    expect(rows).toHaveLength(16);
    expect(rows.reduce((sum, { configurations }) => sum + configurations, 0)).toBe(4 * all.length);
    for (const row of rows) {
      expect(row.inside, JSON.stringify(row)).toBeGreaterThanOrEqual(0.85);
      if (row.stated === 'both' || row.stated === 'bits')
        expect(row.inside, JSON.stringify(row)).toBeLessThanOrEqual(0.95);
    }
  });

  it('hold four of five of the configurations of a model that was not among them', () => {
    for (const row of rows) expect(row.leftOut, JSON.stringify(row)).toBeGreaterThan(0.8);
  });

  it('hold no fewer where nobody states the accelerators', () => {
    for (const row of rows) expect(row.unstated, JSON.stringify(row)).toBeGreaterThanOrEqual(row.inside - 0.01);
  });

  it('have the value in the middle: half of the measured is within 1.6 of it', () => {
    for (const row of rows) expect(Math.abs(Math.log(row.median)), JSON.stringify(row)).toBeLessThan(Math.log(1.6));
  });
});
