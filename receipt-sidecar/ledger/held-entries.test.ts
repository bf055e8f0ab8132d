import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HeldEntries } from './held-entries.ts';

type Step =
  | { readonly do: 'add'; readonly entry: string }
  | { readonly do: 'read'; readonly count: number }
  | { readonly do: 'take'; readonly each: number };

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('add' as const), entry: fc.string({ unit: 'grapheme', maxLength: 120 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('read' as const), count: fc.nat(12) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('take' as const), each: fc.integer({ min: 1, max: 5 }) }) },
);

const found = (held: HeldEntries, ids: ReadonlySet<string>) =>
  held.find(ids).map(([id, entry]) => [id, entry.toString()]);

test('what is held is what was added last within the bound, and was neither read nor taken', () => {
  const maxBytes = 60;
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 80 }), (schedule) => {
      // Some entries are larger than a piece, some pieces have several.
      const held = new HeldEntries(maxBytes, 30);
      let expected: [id: string, entry: string][] = [];
      let dropped = 0;
      for (const [at, step] of schedule.entries()) {
        if (step.do === 'add') {
          held.add(`${at}-0`, Buffer.from(step.entry));
          expected.push([`${at}-0`, step.entry]);
          const sum = () => expected.reduce((bytes, [, entry]) => bytes + Buffer.byteLength(entry), 0);
          for (; sum() > maxBytes; dropped += 1) expected.shift();
        } else if (step.do === 'read') {
          const read = new Set(expected.splice(0, step.count).map(([id]) => id));
          held.forgetWhile((id) => read.has(id));
        } else {
          const wanted = new Set(expected.filter((_, n) => n % step.each === 0).map(([id]) => id));
          expect(found(held, wanted)).toEqual(expected.filter(([id]) => wanted.has(id)));
          held.forget(wanted);
          expected = expected.filter(([id]) => !wanted.has(id));
        }
        expect([held.ids, held.unguarded]).toEqual([expected.map(([id]) => id), dropped]);
      }
      expect(found(held, new Set(held.ids))).toEqual(expected);
    }),
    { numRuns: cases(3000, 300) },
  );
});

test('nothing is found of an id that is not held, and the others stay', () => {
  const held = new HeldEntries(1000);
  held.add('1-0', Buffer.from('one'));
  held.forget(new Set(['2-0']));
  expect(found(held, new Set(['2-0', '1-0', '3-0']))).toEqual([['1-0', 'one']]);
});

test('while all are wanted twice as much is kept, and then what is too much is forgotten', () => {
  const held = new HeldEntries(24);
  held.wantAll(true);
  for (const id of ['1-0', '2-0', '3-0', '4-0', '5-0']) held.add(id, Buffer.from('twelve chars'));
  expect([held.ids, held.unguarded]).toEqual([['2-0', '3-0', '4-0', '5-0'], 1]);
  held.wantAll(false);
  expect([held.ids, held.unguarded]).toEqual([['4-0', '5-0'], 3]);
});
