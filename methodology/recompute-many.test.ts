import { expect, it } from 'vitest';
import { recomputeMany } from './testdata/lineages.ts';

it('1,000 random receipts of all tiers, boundaries and methodologies follow from their lineages, and no change is missed', () => {
  const { measured, same, unseen } = recomputeMany(1000);
  expect(same).toBe(1000);
  expect(measured).toBeGreaterThan(100);
  expect(unseen).toEqual([]);
});
