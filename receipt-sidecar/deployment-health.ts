/**
 * Which deployments fail at the moment, as far as the calls of this process tell.
 *
 * Invariant: it changes which region a free call tries first, and nothing else of it: a deployment that rests stays in the fail-over
 * chain, and where every region rests calls go as if none did. A pinned call asks one that rests all the same, unless its provider
 * is out of reach or has too much to do (`troubleOf`).
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
/** So many times in a row a provider has to be out of reach before pinned calls are refused: more than an instance that restarts. */
const failuresBeforeDegraded = 5;
/** Ids of accounts can be among the names. */
const mostRecords = 10_000;

/**
 * What came of an attempt. `busy`: the provider says that it has too much to do. `down`: it could not be reached, did not answer in time
 * or said 502 to 504. `failed`: anything else that is no answer, which can be the request's own fault.
 */
export type AttemptResult = 'answered' | 'busy' | 'down' | 'failed';

/** What came of an attempt at a deployment. */
export interface Attempt {
  readonly deployment: string;
  readonly result: AttemptResult;
  /** How long the provider asks to be left alone, ms; null if it does not say. */
  readonly retryAfterMs: number | null;
  /** When the call was sent, by the same clock. */
  readonly beganAt: number;
}

/** That a deployment cannot take calls, for `forMs` more. */
export interface Trouble {
  readonly status: 'degraded' | 'saturated';
  readonly forMs: number;
  /** How many calls in a row it did not answer. */
  readonly failures: number;
}

export interface DeploymentHealth {
  note(attempt: Attempt): void;
  /** Whether free calls go elsewhere first. */
  isResting(deployment: string): boolean;
  /** Returns why calls cannot go there, for those that can go nowhere else; null if one can be tried. */
  troubleOf(deployment: string): Trouble | null;
  /** A call begins there: after a rest it is the one that tries, and all others wait for what comes of it. */
  begins(deployment: string): void;
  register(registry: Registry): void;
}

/** Of one deployment; moments by the clock of `now`, 0 where it does not rest. */
interface Failures {
  failures: number;
  /** How many of the last ones in a row were of this kind. */
  down: number;
  isBusy: boolean;
  restsFrom: number;
  restsUntil: number;
}

interface Listener {
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Told when a deployment cannot take calls, and, with null, when it can again. */
  readonly onTrouble?: (deployment: string, trouble: Trouble | null) => void;
}

/** `now`: ms, of a clock that nobody sets. */
export function createDeploymentHealth(now: () => number, { log, onTrouble }: Listener): DeploymentHealth {
  /** Of those that failed last. */
  const records = new Map<string, Failures>();
  const isResting = (deployment: string): boolean => (records.get(deployment)?.restsUntil ?? 0) > now();
  const troubleOf = (deployment: string): Trouble | null => troubleIn(records.get(deployment), now());

  const recordOf = (deployment: string): Failures => {
    const known = records.get(deployment);
    if (known) return known;
    if (records.size >= mostRecords) for (const oldest of [...records.keys()].slice(0, 1)) records.delete(oldest);
    const record = { failures: 0, down: 0, isBusy: false, restsFrom: 0, restsUntil: 0 };
    records.set(deployment, record);
    return record;
  };

  const failed = ({ beganAt, deployment, result, retryAfterMs }: Attempt): void => {
    const record = recordOf(deployment);
    // Calls that were under way when its rest began say nothing new.
    if (beganAt < record.restsFrom) return;
    record.failures += 1;
    record.down = result === 'down' ? record.down + 1 : 0;
    record.isBusy = result === 'busy';
    const over = record.failures - failuresBeforeRest;
    const byFailures = over < 0 ? 0 : Math.min(longestRestMs, shortestRestMs * 2 ** Math.min(over, 10));
    const restMs = Math.max(byFailures, Math.min(retryAfterMs ?? 0, longestRetryAfterMs));
    if (restMs === 0) return;
    // Once for each outage.
    if (record.restsUntil === 0) log.warn({ deployment, restMs }, 'a deployment fails; free calls go elsewhere first');
    record.restsFrom = now();
    record.restsUntil = record.restsFrom + restMs;
    const trouble = troubleOf(deployment);
    if (trouble) onTrouble?.(deployment, trouble);
  };

  return {
    isResting,
    troubleOf,
    begins: (deployment) => {
      const record = records.get(deployment);
      if (record && record.restsUntil > 0 && !isResting(deployment)) record.restsUntil = now() + probeMs;
    },
    note: (attempt) => {
      if (attempt.result !== 'answered') return failed(attempt);
      const record = records.get(attempt.deployment);
      if (!record || attempt.beganAt < record.restsFrom) return;
      records.delete(attempt.deployment);
      if (record.restsUntil === 0) return;
      log.info({ deployment: attempt.deployment }, 'a deployment answers again');
      onTrouble?.(attempt.deployment, null);
    },
    register: (registry) => registry.registerMetric(failingGauge(() => [...records.keys()].filter(isResting).length)),
  };
}

function troubleIn(record: Failures | undefined, at: number): Trouble | null {
  const forMs = (record?.restsUntil ?? 0) - at;
  if (!record || forMs <= 0) return null;
  const { down, failures, isBusy } = record;
  if (isBusy) return { status: 'saturated', forMs, failures };
  return down >= failuresBeforeDegraded ? { status: 'degraded', forMs, failures } : null;
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
