import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IndexRuns, type Run } from './index-runs.ts';

test('of runs that were asked for, what was not added is missing, in whatever order the indexes come', () => {
  const asked = fc.array(fc.tuple(fc.nat(5), fc.nat(5)), { maxLength: 6 });
  fc.assert(
    fc.property(fc.array(fc.nat(40)), asked, (places, steps) => {
      const runs = new IndexRuns();
      for (const each of places) runs.add(each);
      let next = 0;
      const wanted = steps.map(([gap, more]): Run => {
        const from = next + gap;
        next = from + more + 1;
        return [from, from + more];
      });
      const all = (list: readonly Run[]) =>
        list.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, n) => from + n));
      expect(all(runs.missingOf(wanted))).toEqual(all(wanted).filter((each) => !places.includes(each)));
    }),
    { numRuns: 5000 },
  );
});
