/**
 * Which deployments fail at the moment, as far as the calls of this process tell.
 *
 * Invariant: it changes which region a free call tries first, and nothing else of it: a deployment that rests stays in the fail-over
 * chain, and where every region rests calls go as if none did. Calls that can go nowhere else are refused by measured-trouble.ts.
 */
import type { Logger } from '@gw/service/log';
import { Gauge, type Registry } from 'prom-client';

/** So many calls in a row have to fail, so that one bad answer moves no traffic. */
const failuresBeforeRest = 3;
/** The first rest, and the longest, ms: each further failure doubles it. */
const [shortestRestMs, longestRestMs] = [2000, 30_000];
/** However long a provider asks to be left alone. */
const longestRetryAfterMs = 60_000;

/** How long one call may try whether a deployment answers again, before another one may, ms. */
const probeMs = 30_000;
/** What is older says nothing of now, ms. */
const staleMs = 60_000;

/**
 * What came of an attempt. `busy`: the provider says that it has too much to do. `down`: it could not be reached, did not answer in time
 * or said 502 to 504. `failed`: anything else that is no answer, which can be the request's own fault. `full`: it has as many calls of
 * ours as it takes at once, so it was not asked: that says nothing of how it is, and a place is free with the next end of a call.
 */
export const attemptResults = ['answered', 'busy', 'down', 'failed', 'full'] as const;
export type AttemptResult = (typeof attemptResults)[number];

/** What came of an attempt at a deployment. */
export interface Attempt {
  readonly deployment: string;
  readonly result: AttemptResult;
  /** How long the provider asks to be left alone, ms; null if it does not say. */
  readonly retryAfterMs: number | null;
  /** When the call was sent, by the same clock. */
  readonly beganAt: number;
}

export interface DeploymentHealth {
  note(attempt: Attempt): void;
  /** Whether free calls go elsewhere first. */
  isResting(deployment: string): boolean;
  /** A free call begins there. Returns whether it is the one that tries after a rest: all others wait for what comes of it. */
  begins(deployment: string): boolean;
  /** The call that tried has ended without a word: another one may. */
  givesUp(deployment: string): void;
  register(registry: Registry): void;
}

/** Of one deployment; moments by the clock of `now`. */
interface Failures {
  failures: number;
  lastAt: number;
  /** 0 where it never rested. */
  restsFrom: number;
  restsUntil: number;
  /** While a call tries. */
  probedUntil: number;
}

/** `now`: ms, of a clock that nobody sets. */
export function createDeploymentHealth(now: () => number, log: Pick<Logger, 'info' | 'warn'>): DeploymentHealth {
  /** Of those that failed last; ids of the catalogue alone. */
  const records = new Map<string, Failures>();
  const isResting = (deployment: string): boolean => {
    const record = records.get(deployment);
    return record !== undefined && Math.max(record.restsUntil, record.probedUntil) > now();
  };

  const failed = ({ beganAt, deployment, retryAfterMs }: Attempt): void => {
    const at = now();
    const known = records.get(deployment);
    const isFresh = known && at - Math.max(known.lastAt, known.restsUntil) <= staleMs;
    const record = isFresh ? known : { failures: 0, lastAt: at, restsFrom: 0, restsUntil: 0, probedUntil: 0 };
    records.set(deployment, record);
    // Calls that were under way when its rest began say nothing new.
    if (beganAt < record.restsFrom) return;
    record.failures += 1;
    record.lastAt = at;
    record.probedUntil = 0;
    const restMs = restOf(record.failures, retryAfterMs);
    if (restMs === 0) return;
    // Once for each outage.
    if (record.restsUntil === 0) log.warn({ deployment, restMs }, 'a deployment fails; free calls go elsewhere first');
    record.restsFrom = at;
    record.restsUntil = Math.max(record.restsUntil, at + restMs);
  };

  /** If it was the one to try it, the next call may. */
  const givesUp = (deployment: string): void => {
    const record = records.get(deployment);
    if (record) record.probedUntil = 0;
  };

  return {
    isResting,
    begins: (deployment) => {
      const record = records.get(deployment);
      if (!record || record.restsUntil === 0 || isResting(deployment)) return false;
      record.probedUntil = now() + probeMs;
      return true;
    },
    givesUp,
    note: (attempt) => {
      if (attempt.result === 'full') return givesUp(attempt.deployment);
      if (attempt.result !== 'answered') return failed(attempt);
      const record = records.get(attempt.deployment);
      if (!record || attempt.beganAt < record.restsFrom) return;
      records.delete(attempt.deployment);
      if (record.restsUntil > 0) log.info({ deployment: attempt.deployment }, 'a deployment answers again');
    },
    register: (registry) => registry.registerMetric(failingGauge(() => [...records.keys()].filter(isResting).length)),
  };
}

/** Returns how long a deployment rests after so many failures in a row, ms. */
function restOf(failures: number, retryAfterMs: number | null): number {
  const over = failures - failuresBeforeRest;
  const byFailures = over < 0 ? 0 : Math.min(longestRestMs, shortestRestMs * 2 ** Math.min(over, 10));
  return Math.max(byFailures, Math.min(retryAfterMs ?? 0, longestRetryAfterMs));
}

const failingGauge = (count: () => number): Gauge =>
  new Gauge({
    name: 'gw_deployments_failing',
    help: 'Deployments that fail here at the moment, so that free calls go elsewhere first',
    registers: [],
    collect() {
      this.set(count());
    },
  });
