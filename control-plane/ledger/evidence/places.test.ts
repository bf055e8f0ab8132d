import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Places, type TakenPlace } from './places.ts';

const bounds = { inAll: 16, ofAccount: 4, what: 'packs being read', retryAfterS: 5 };
const step = fc.record({
  account: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  leaves: fc.boolean(),
  at: fc.nat(40),
});

test('whoever comes and goes in whatever order, no account and not all together have more than their places', () => {
  const check = (steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[]) => {
    const places = new Places(bounds);
    const given: { readonly account: string; readonly place: TakenPlace }[] = [];
    let held: typeof given = [];
    for (const { account, at, leaves } of steps) {
      // Also one that was given back before: that must change nothing.
      const leaving = leaves ? given[at % Math.max(1, given.length)] : undefined;
      leaving?.place.leave();
      held = held.filter((each) => each !== leaving);
      if (leaves) continue;
      const own = held.filter((each) => each.account === account).length;
      const taken = places.take(account);
      const said = 'refused' in taken ? taken.refused.message : 'taken';
      if (own >= bounds.ofAccount) expect(said).toMatch(/^This account has 4 packs being read already/);
      else expect(said === 'taken').toBe(held.length < bounds.inAll);
      if (!('refused' in taken)) {
        given.push({ account, place: taken });
        held.push(given.at(-1) as (typeof given)[number]);
      }
    }
  };
  fc.assert(fc.property(fc.array(step, { maxLength: 120, size: 'max' }), check), { numRuns: cases(500) });
});
