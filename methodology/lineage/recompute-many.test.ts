import { cases } from '@gw/testing/cases';
import { expect, it } from 'vitest';
import { recomputeMany } from '../testdata/lineages.ts';

it('random receipts of all tiers, boundaries and methodologies follow from their lineages, and no change is missed', () => {
  const count = cases(10_000, 100);
  const { measured, same, unseen } = recomputeMany(count);
  expect(same).toBe(count);
  expect(measured).toBeGreaterThan(count / 20);
  expect(unseen).toEqual([]);
});
