import { expect, it } from 'vitest';
import { recomputeMany } from './testdata/lineages.ts';

it('for 2,000', () => {
  const t = performance.now();
  console.log(recomputeMany(2000), performance.now() - t);
});
