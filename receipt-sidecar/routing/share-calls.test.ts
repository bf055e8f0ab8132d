import { candidate, chainOf, routeOver } from '@gw/testing/receipt-sidecar/chain';
import { describe, expect, it } from 'vitest';
import { countCallsUnderWay } from '../attempts/calls-under-way.ts';
import type { Candidate } from '../catalogue/snapshot.ts';
import { shareCalls } from './share-calls.ts';

const at = (id: string, weight: number, maxConcurrentRequests: number | null = null): Candidate => {
  const plain = candidate(id, 'm');
  return { ...plain, deployment: { ...plain.deployment, weight, maxConcurrentRequests } };
};

function open(...places: readonly [Candidate, ...Candidate[]]) {
  const underWay = countCallsUnderWay();
  const sharing = shareCalls(underWay);
  const choose = (session: string | null = null, peers: readonly Candidate[] = places) =>
    sharing.shared(
      { ...routeOver(...places), peers, shared: null },
      { accountId: 'acct', affinity: session === null ? null : { by: 'session', key: session } },
    );
  const first = (session: string | null = null, peers: readonly Candidate[] = places) =>
    choose(session, peers).failoverChain[0].deployment.id;
  const counted = (times: number, next: () => string) => {
    const counts: Record<string, number> = {};
    for (let time = 0; time < times; time += 1) {
      const id = next();
      counts[id] = (counts[id] || 0) + 1;
    }
    return counts;
  };
  return { choose, counted, first, underWay };
}

describe('calls without an affinity', () => {
  it('are shared by weight, exactly, where one comes after the other', () => {
    const { counted, first } = open(at('a', 3), at('b', 1), at('c', 0.5));
    expect(counted(900, first)).toEqual({ a: 600, b: 200, c: 100 });
  });

  it('go where fewer are under way, and there are more of them by weight', () => {
    const { counted, first, underWay } = open(at('a', 1), at('b', 1));
    for (let call = 0; call < 9; call += 1) underWay.begins('a');
    expect(counted(110, first)).toEqual({ a: 10, b: 100 });
    const weighted = open(at('a', 3), at('b', 1));
    const ends = weighted.counted(400, () => {
      const id = weighted.first();
      weighted.underWay.begins(id);
      return id;
    });
    // Nothing ends: both the weight and what is under way count.
    const { a = 0, b = 0 } = ends;
    expect(a).toBeGreaterThan(b);
    expect(a).toBeLessThan(3 * b);
  });

  it('keep the rest of the chain in its order, and leave a chain with nothing to choose as it is', () => {
    const [a, b, c] = [at('a', 1), at('b', 1), at('c', 1)];
    const { choose } = open(a, b, c);
    expect([choose(), choose(), choose()].map(chainOf)).toEqual(['a>b>c', 'b>a>c', 'c>a>b']);
    expect(choose(null, [a]).shared).toBeNull();
    // A carbon ceiling has left it out of the chain.
    expect(choose('s', [a, at('gone', 1)]).shared).toBeNull();
  });

  it('do not begin where there is no room, unless there is none anywhere', () => {
    const { counted, first, underWay } = open(at('a', 1, 1), at('b', 1, 2));
    const call = underWay.begins('a');
    expect(counted(5, first)).toEqual({ b: 5 });
    underWay.begins('b');
    underWay.begins('b');
    expect(Object.keys(counted(5, first))).toHaveLength(2);
    call.end();
    call.end();
    expect(underWay.at('a')).toBe(0);
    expect(counted(5, first)).toEqual({ a: 5 });
  });

  it('do not all go to a deployment that comes back', () => {
    const [a, b] = [at('a', 1), at('b', 1)];
    const { counted, first } = open(a, b);
    counted(1000, () => first(null, [a]));
    counted(1000, () => first('x', [b, a]));
    const { a: atA = 0, b: atB = 0 } = counted(100, first);
    expect(Math.abs(atA - atB)).toBeLessThanOrEqual(10);
  });
});

describe('calls of a session', () => {
  const sessions = Array.from({ length: 2000 }, (_, number) => `session ${number}`);

  it('begin at the same deployment in every process, each with its part of the sessions by weight', () => {
    const [one, other] = [open(at('a', 3), at('b', 1)), open(at('b', 1), at('a', 3))];
    const places = sessions.map((session) => one.first(session));
    expect(sessions.map((session) => other.first(session))).toEqual(places);
    const atA = places.filter((id) => id === 'a').length / sessions.length;
    expect(atA).toBeGreaterThan(0.71);
    expect(atA).toBeLessThan(0.79);
    expect(one.choose('session 1').shared).toMatchObject({ by: 'affinity', affinity: 'session' });
  });

  it('move only from the deployment that goes', () => {
    const [a, b, c] = [at('a', 1), at('b', 1), at('c', 1)];
    const { first } = open(a, b, c);
    for (const session of sessions.slice(0, 300)) {
      const before = first(session);
      const without = first(session, [a, b]);
      if (before !== 'c') expect(without).toBe(before);
    }
  });

  it('go elsewhere from a deployment with much more to do than its part, and say so', () => {
    const { choose, first, underWay } = open(at('a', 1), at('b', 1));
    const own = first('s');
    const other = own === 'a' ? 'b' : 'a';
    for (let call = 0; call < 7; call += 1) underWay.begins(own);
    expect(first('s')).toBe(own);
    underWay.begins(own);
    const moved = choose('s');
    expect(moved.failoverChain[0].deployment.id).toBe(other);
    expect(moved.shared).toEqual({
      by: 'load',
      affinity: 'session',
      among: [
        { deployment: 'a', weight: 1, underWay: own === 'a' ? 8 : 0 },
        { deployment: 'b', weight: 1, underWay: own === 'b' ? 8 : 0 },
      ],
    });
    for (let call = 0; call < 8; call += 1) underWay.begins(other);
    expect(first('s')).toBe(own);
  });

  it('take from the turns of the others', () => {
    const { first } = open(at('a', 1), at('b', 1));
    for (let time = 0; time < 10; time += 1) expect(first()).not.toBe(first('s'));
  });
});
