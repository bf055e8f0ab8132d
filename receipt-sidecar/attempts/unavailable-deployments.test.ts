import { describe, expect, it } from 'vitest';
import type { AttemptResult } from './attempt-outcome.ts';
import { createMeasuredTrouble, ofAccount } from './unavailable-deployments.ts';

function troubleAt() {
  let ms = 1_000_000;
  const told: string[] = [];
  const trouble = createMeasuredTrouble(
    () => ms,
    (name, each) => void told.push(each ? `${name}: ${each.status}` : name),
  );
  return {
    told,
    waits: (forMs: number) => {
      ms += forMs;
    },
    notes: (result: AttemptResult, times = 1, retryAfterMs: number | null = null, name = 'd m') => {
      for (let at = 0; at < times; at += 1) trouble.note(name, { result, retryAfterMs });
    },
    of: (name = 'd m') => trouble.of(name),
  };
}

it('a deployment that has as many calls as it takes is in no trouble, and has not answered', () => {
  const { notes, of, told } = troubleAt();
  notes('full', 20);
  expect([of(), told]).toEqual([null, []]);
  notes('busy', 2);
  notes('full');
  notes('busy');
  expect(of()).toMatchObject({ status: 'saturated', failures: 3 });
});

it('a deployment that needs its operator tells pinned calls so itself', () => {
  const { notes, of, told } = troubleAt();
  notes('needs_operator', 20);
  expect([of(), told]).toEqual([null, []]);
});

describe('a provider that has too much to do', () => {
  it('is spared after three refusals in a row, for as long as it asks', () => {
    const { notes, of, told, waits } = troubleAt();
    notes('busy', 2, 5000);
    expect(of()).toBeNull();
    notes('busy', 1, 5000);
    expect(of()).toEqual({ status: 'saturated', forMs: 5000, failures: 3 });
    // A later refusal does not shorten it.
    notes('busy', 1, 1000);
    expect(of()).toEqual({ status: 'saturated', forMs: 5000, failures: 4 });
    expect(of('d other')).toBeNull();
    waits(5000);
    expect(of()).toBeNull();
    notes('answered');
    expect(told).toEqual(['d m: saturated', 'd m: saturated', 'd m']);
  });

  it('is spared for 2 s if it says no time, and for a minute at most', () => {
    const { notes, of, waits } = troubleAt();
    notes('busy', 3);
    expect(of()?.forMs).toBe(2000);
    waits(2000);
    notes('busy', 1, 3_600_000);
    expect(of()?.forMs).toBe(60_000);
  });
});

describe('a provider that is out of reach', () => {
  it('is given up after five calls and six seconds, and asked again after five more', () => {
    const { notes, of, waits } = troubleAt();
    notes('down', 50);
    expect(of()).toBeNull();
    waits(6000);
    notes('down');
    expect(of()).toEqual({ status: 'degraded', forMs: 5000, failures: 51 });
    waits(5000);
    expect(of()).toBeNull();
    notes('down');
    expect(of()?.status).toBe('degraded');
    notes('answered');
    expect(of()).toBeNull();
  });

  it('is so whatever errors come between that can be the request, and not by failures of long ago', () => {
    const { notes, of, waits } = troubleAt();
    for (let second = 0; second < 7; second += 1) {
      notes('down');
      notes('failed');
      waits(1000);
    }
    expect(of()?.failures).toBe(7);
    waits(61_000);
    notes('down', 10);
    expect(of()).toBeNull();
  });

  it('is not, where it answers in between, if only that it has too much to do', () => {
    const { notes, of, waits } = troubleAt();
    for (const word of ['answered', 'busy'] as const) {
      notes('down', 4);
      waits(7000);
      notes(word);
      notes('down', 4);
      expect(of()).toBeNull();
    }
  });
});

it('no more than ten thousand names are remembered, of which the first that failed goes first', () => {
  const { notes, of } = troubleAt();
  notes('busy', 3, 60_000);
  for (let at = 0; at < 9999; at += 1) notes('busy', 1, null, ofAccount('a', `d${at}`, 'm'));
  expect(of()).not.toBeNull();
  notes('busy', 1, null, 'one more');
  expect(of()).toBeNull();
});
