import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { IdList } from './id-list.ts';

const ids = fc.uniqueArray(fc.stringMatching(/^[0-9A-Za-z]{12}$/), { maxLength: 40 });
const sorted = (those: readonly string[]) => Buffer.from([...those].sort().join(''), 'latin1');

it('finds each id that it was made with or that was added, and no other', () => {
  fc.assert(
    fc.property(ids, ids, ids, (there, added, others) => {
      const list = new IdList(sorted(there));
      for (const id of [...added, ...added]) list.add(id);
      for (const id of [...there, ...added]) expect(list.has(id)).toBe(true);
      for (const id of others) expect(list.has(id)).toBe(there.includes(id) || added.includes(id));
    }),
  );
});

it('finds all of many that are added in any order, below, above and between those that were there', () => {
  const id = (n: number) => `key${String(n).padStart(9, '0')}`;
  const chance = fc.sample(fc.integer({ min: 0, max: 20_000 }), { numRuns: cases(50_000), seed: 7 });
  const there = Array.from({ length: 2000 }, (_, i) => 5000 + 5 * i);
  const model = new Set(there);
  const list = new IdList(sorted(there.map(id)));
  for (const n of chance) {
    list.add(id(n));
    model.add(n);
  }
  const found = Array.from({ length: 20_002 }, (_, n) => n).filter((n) => list.has(id(n)));
  expect(found).toEqual([...model].sort((a, b) => a - b));
});

it('needs no room for ids that are there already', () => {
  const there = Array.from({ length: 3000 }, (_, n) => `key${String(n).padStart(9, '0')}`);
  const list = new IdList(sorted(there));
  const allocate = vi.spyOn(Buffer, 'allocUnsafe');
  for (const id of there) list.add(id);
  expect(allocate).not.toHaveBeenCalled();
  allocate.mockRestore();
});
