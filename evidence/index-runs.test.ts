import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IndexRuns } from './index-runs.ts';

test('gaps are what is missing between the first and the last place, in whatever order they come', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(40), { minLength: 1 }), (places) => {
      const runs = new IndexRuns();
      for (const each of places) runs.add(each);
      const missing = runs.gaps().flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, n) => from + n));
      const [first, last] = [Math.min(...places), Math.max(...places)];
      const all = Array.from({ length: last - first + 1 }, (_, n) => first + n);
      expect(missing).toEqual(all.filter((each) => !places.includes(each)));
    }),
    { numRuns: 5000 },
  );
});
