import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { AttemptResult } from './attempt-outcome.ts';
import { createDeploymentHealth, type JudgedAttempt } from './resting-deployments.ts';

const failure = { deployment: 'd', result: 'failed', retryAfterMs: null } as const;

function healthAt() {
  let ms = 1_000_000;
  const told: string[] = [];
  const log = { warn: () => void told.push('fails'), info: () => void told.push('answers') };
  const health = createDeploymentHealth(() => ms, log as never);
  const fails = (times = 1, retryAfterMs: number | null = null, result: AttemptResult = 'failed') => {
    for (let at = 0; at < times; at += 1) health.note({ ...failure, result, beganAt: ms, retryAfterMs });
  };
  const restsFor = () => {
    let rests = 0;
    while (health.isResting('d') && rests < 100_000) {
      ms += 500;
      rests += 500;
    }
    return rests;
  };
  return {
    health,
    fails,
    restsFor,
    told,
    answers: (beganAt = ms) => health.note({ ...failure, result: 'answered', beganAt }),
    at: () => ms,
    waits: (forMs: number) => {
      ms += forMs;
    },
  };
}

describe('a deployment', () => {
  it('is named by the metric and by the health while it fails and has not answered since', async () => {
    const { answers, fails, health, waits } = healthAt();
    const registry = new Registry();
    health.register(registry);
    const series = async () => (await registry.metrics()).split('\n').filter((line) => /^gw_/.test(line));
    expect([await series(), health.sentence()]).toEqual([['gw_deployments_failing{deployment=""} 0'], null]);
    fails(3);
    expect(await series()).toEqual(['gw_deployments_failing{deployment="d"} 1']);
    expect(health.sentence()).toContain('Calls to d fail');
    // Its rest is over, and nobody knows yet whether it is well.
    waits(30_000);
    expect(await series()).toEqual(['gw_deployments_failing{deployment="d"} 1']);
    answers();
    expect([await series(), health.sentence()]).toEqual([['gw_deployments_failing{deployment=""} 0'], null]);
  });

  it('is judged by the calls of all sidecars, of which each gets a few', () => {
    let ms = 1_000_000;
    const takes: ((told: JudgedAttempt) => void)[] = [];
    let sent = 0;
    const shared = {
      send: (told: JudgedAttempt) => {
        sent += 1;
        for (const take of takes) take(told);
      },
      receive: (take: (told: JudgedAttempt) => void) => void takes.push(take),
    };
    const silent = { warn: () => undefined, info: () => undefined };
    // Their clocks begin at different times.
    const [one, other] = [0, 500_000].map((offset) => createDeploymentHealth(() => ms + offset, silent, shared));
    if (!one || !other) throw new Error('There are two.');
    const at = (offset: number) => ({ ...failure, beganAt: ms + offset });
    one.note({ ...at(0), result: 'answered' });
    expect(sent).toBe(0);
    one.note(at(0));
    other.note(at(500_000));
    expect([one.sentence(), other.sentence()]).toEqual([null, null]);
    ms += 10;
    one.note(at(0));
    expect(one.sentence()).toContain('Calls to d fail');
    expect(other.sentence()).toContain('Calls to d fail');
    expect([one.isResting('d'), other.isResting('d'), sent]).toEqual([true, true, 3]);
    // A call that was under way before says nothing new, to whichever.
    other.note(at(500_000 - 5));
    expect(sent).toBe(3);
    ms += 5000;
    other.note({ ...at(500_000), result: 'answered' });
    expect([one.sentence(), other.sentence()]).toEqual([null, null]);
  });

  it('has no series of its own where very many fail', async () => {
    const { at, health } = healthAt();
    for (let nth = 0; nth < 150; nth++)
      for (let time = 0; time < 3; time++) health.note({ ...failure, deployment: `d${nth}`, beganAt: at() });
    const registry = new Registry();
    health.register(registry);
    const series = (await registry.metrics()).split('\n').filter((line) => /^gw_/.test(line));
    expect(series).toHaveLength(101);
    expect(series.at(-1)).toBe('gw_deployments_failing{deployment="other"} 50');
    expect(health.sentence()).toContain('d0, d1, d2, d3, d4 and 145 more');
  });

  it('rests after three failures in a row, and longer with each further one', () => {
    const { fails, health, restsFor } = healthAt();
    fails(2);
    expect(health.isResting('d')).toBe(false);
    fails();
    expect(restsFor()).toBe(2000);
    expect(health.isResting('other')).toBe(false);
    for (const rest of [4000, 8000, 16_000, 30_000, 30_000]) {
      fails();
      expect(restsFor()).toBe(rest);
    }
  });

  it('rests at once, and for long, where it needs its operator', () => {
    const { answers, fails, health, restsFor } = healthAt();
    fails(1, null, 'needs_operator');
    expect(restsFor()).toBe(30_000);
    fails(1, null, 'needs_operator');
    expect(health.isResting('d')).toBe(true);
    restsFor();
    answers();
    expect(health.isResting('d')).toBe(false);
  });

  it('ends that rest when a pinned call is answered, and no other rest', () => {
    const { at, fails, health } = healthAt();
    fails(1, null, 'needs_operator');
    health.answeredPinned({ deployment: 'd', beganAt: at() });
    expect(health.isResting('d')).toBe(false);
    fails(3, null, 'down');
    health.answeredPinned({ deployment: 'd', beganAt: at() });
    expect(health.isResting('d')).toBe(true);
  });

  it('does not rest for having as many calls as it takes', () => {
    const { fails, health, told } = healthAt();
    fails(20, null, 'full');
    expect([health.isResting('d'), told]).toEqual([false, []]);
    // Nor is that an answer.
    fails(2, null, 'down');
    fails(1, null, 'full');
    fails(1, null, 'down');
    expect(health.isResting('d')).toBe(true);
    fails(1, null, 'full');
    expect(health.isResting('d')).toBe(true);
  });

  it('is tried by the next call where the one that was to try it found no place', () => {
    const { fails, health, restsFor } = healthAt();
    fails(3, null, 'down');
    restsFor();
    health.begins('d');
    expect(health.isResting('d')).toBe(true);
    fails(1, null, 'full');
    expect(health.isResting('d')).toBe(false);
    health.begins('d');
    expect(health.isResting('d')).toBe(true);
  });

  it('is as before once it has answered', () => {
    const { answers, fails, health, restsFor, told } = healthAt();
    fails(3);
    restsFor();
    fails();
    restsFor();
    answers();
    fails(2);
    expect(health.isResting('d')).toBe(false);
    expect(told).toEqual(['fails', 'answers']);
  });

  it('neither rests longer nor comes back for calls that were under way', () => {
    const { answers, at, fails, health, restsFor } = healthAt();
    const before = at() - 1;
    fails(3);
    for (let more = 0; more < 50; more += 1) health.note({ ...failure, beganAt: before });
    answers(before);
    expect(restsFor()).toBe(2000);
  });

  it('is tried by one call after its rest, and the others wait for what comes of it', () => {
    const { answers, fails, health, restsFor } = healthAt();
    health.begins('d');
    fails(3);
    restsFor();
    health.begins('d');
    expect(health.isResting('d')).toBe(true);
    fails();
    expect(restsFor()).toBe(4000);
    health.begins('d');
    answers();
    expect(health.isResting('d')).toBe(false);
    // The probe ended without a result.
    fails(3);
    restsFor();
    expect([health.begins('d'), health.begins('d')]).toEqual([true, false]);
    expect(restsFor()).toBe(30_000);
    // Or its client went.
    health.begins('d');
    health.givesUp('d');
    expect(health.isResting('d')).toBe(false);
  });

  it('is not judged by what failed long ago', () => {
    const { fails, health, restsFor, waits } = healthAt();
    fails(6);
    restsFor();
    waits(61_000);
    fails(2);
    expect(health.isResting('d')).toBe(false);
  });

  it('rests at once for as long as it asks, up to a minute', () => {
    const { fails, restsFor } = healthAt();
    fails(1, 7000);
    expect(restsFor()).toBe(7000);
    fails(1, 3_600_000);
    expect(restsFor()).toBe(60_000);
    // A later word does not shorten it.
    fails(1, 7000);
    fails(1, 1000);
    expect(restsFor()).toBe(7000);
  });
});
