import { expect, it } from 'vitest';
import { recomputeMany } from './testdata/lineages.ts';

it('10,000 random receipts of all tiers, boundaries and methodologies follow from their lineages, and no change is missed', () => {
  const { measured, same, unseen } = recomputeMany(10_000);
  expect(same).toBe(10_000);
  expect(measured).toBeGreaterThan(1000);
  expect(unseen).toEqual([]);
}, 120_000);
