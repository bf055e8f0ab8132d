/**
 * Which deployments fail at the moment, as far as the calls of this process tell.
 *
 * Invariant: it only changes which region a free call tries first. A deployment that rests stays in the fail-over chain, a pinned
 * call asks it all the same, and where every region rests calls go as if none did.
 */
import type { Logger } from '@gw/service/log';
import { Gauge, type Registry } from 'prom-client';
import type { Busy } from './failed-attempts.ts';

/** So many calls in a row have to fail, so that one bad answer moves no traffic. */
const failuresBeforeRest = 3;
/** The first rest, and the longest, ms: each further failure doubles it. */
const [shortestRestMs, longestRestMs] = [2000, 30_000];
/** However long a provider asks to be left alone. */
const longestRetryAfterMs = 60_000;

/** How long one call may try whether a deployment answers again, before another one may, ms. */
const probeMs = 30_000;

/** What came of an attempt at a deployment. */
export interface Attempt extends Busy {
  readonly deployment: string;
  /** False: no answer, or one that says that the provider is the problem. */
  readonly isGood: boolean;
  /** When the call was sent, by the same clock. */
  readonly beganAt: number;
}

export interface DeploymentHealth {
  note(attempt: Attempt): void;
  /** Whether free calls go elsewhere first. */
  isResting(deployment: string): boolean;
  /** A free call begins there: after a rest it is the one that tries, and all others wait for what comes of it. */
  begins(deployment: string): void;
  register(registry: Registry): void;
}

/** Of one deployment; moments by the clock of `now`, 0 where it does not rest. */
interface Failures {
  failures: number;
  restsFrom: number;
  restsUntil: number;
}

/** `now`: ms, of a clock that nobody sets. */
export function createDeploymentHealth(now: () => number, log: Pick<Logger, 'info' | 'warn'>): DeploymentHealth {
  /** Of those that failed last; ids of the catalogue alone. */
  const records = new Map<string, Failures>();
  const isResting = (deployment: string): boolean => (records.get(deployment)?.restsUntil ?? 0) > now();

  const failed = ({ beganAt, deployment, retryAfterMs }: Attempt): void => {
    const record: Failures = records.get(deployment) ?? { failures: 0, restsFrom: 0, restsUntil: 0 };
    records.set(deployment, record);
    // Calls that were under way when its rest began say nothing new.
    if (beganAt < record.restsFrom) return;
    record.failures += 1;
    const over = record.failures - failuresBeforeRest;
    const byFailures = over < 0 ? 0 : Math.min(longestRestMs, shortestRestMs * 2 ** Math.min(over, 10));
    const restMs = Math.max(byFailures, Math.min(retryAfterMs ?? 0, longestRetryAfterMs));
    if (restMs === 0) return;
    // Once for each outage.
    if (record.restsUntil === 0) log.warn({ deployment, restMs }, 'a deployment fails; free calls go elsewhere first');
    record.restsFrom = now();
    record.restsUntil = record.restsFrom + restMs;
  };

  return {
    isResting,
    begins: (deployment) => {
      const record = records.get(deployment);
      if (record && record.restsUntil > 0 && !isResting(deployment)) record.restsUntil = now() + probeMs;
    },
    note: (attempt) => {
      if (!attempt.isGood) return failed(attempt);
      const record = records.get(attempt.deployment);
      if (!record || attempt.beganAt < record.restsFrom) return;
      records.delete(attempt.deployment);
      if (record.restsUntil > 0) log.info({ deployment: attempt.deployment }, 'a deployment answers again');
    },
    register: (registry) =>
      registry.registerMetric(
        new Gauge({
          name: 'gw_deployments_failing',
          help: 'Deployments that fail here at the moment, so that free calls go elsewhere first',
          registers: [],
          collect() {
            this.set([...records.keys()].filter(isResting).length);
          },
        }),
      ),
  };
}
