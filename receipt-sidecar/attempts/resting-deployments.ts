/**
 * Rests deployments that fail, with exponential back-off, judging by the calls of all sidecars: each tells the others what it has judged by.
 * Otherwise a sidecar that gets few of the calls would neither avoid nor report what fails for all of them.
 *
 * Invariant: resting only changes which region a free call tries first. The deployment stays in the fail-over chain, and if every region
 * rests, calls are routed as if none did. Calls that can go nowhere else are refused by unavailable-deployments.ts.
 */
import type { Logger } from '@gw/service/log';
import { registering } from '@gw/service/metric';
import { Gauge, type Registry } from 'prom-client';
import { z } from 'zod';
import type { Shared } from '../wire/shared.ts';
import { type AttemptVerdict, attemptResults } from './attempt-outcome.ts';

/** One bad answer must not move traffic. */
const failuresBeforeRest = 3;
/** Each further failure doubles the rest, ms. */
const [shortestRestMs, longestRestMs] = [2000, 30_000];
/** Caps the `Retry-After` of a provider, ms. */
const longestRetryAfterMs = 60_000;

/** How long a probe may take before another call may probe the deployment, ms. */
const probeMs = 30_000;
/** Failures that are older no longer count, ms. */
const staleMs = 60_000;

/** An attempt that another sidecar has judged a deployment by. */
export const judgedAttemptSchema = z.object({
  /** The process that tells it. */
  from: z.string(),
  deployment: z.string().max(200),
  result: z.enum(attemptResults),
  retryAfterMs: z.number().nonnegative().nullable(),
  /** How long before the message the call was sent, ms. */
  agoMs: z.number().nonnegative(),
});
export type JudgedAttempt = z.infer<typeof judgedAttemptSchema>;

/** The messages of other sidecars name deployments of their catalogue, which may be a little newer. */
const mostRecords = 10_000;

export interface AttemptAtDeployment extends AttemptVerdict {
  readonly deployment: string;
  /** When the call was sent, by the clock of `now`. */
  readonly beganAt: number;
}

export interface DeploymentHealth {
  note(attempt: AttemptAtDeployment): void;
  /** A pinned call was answered, which ends a rest for the operator's sake: a client cannot provoke that. */
  answeredPinned(attempt: Pick<AttemptAtDeployment, 'beganAt' | 'deployment'>): void;
  isResting(deployment: string): boolean;
  /** Call when a free call starts there. Returns whether it probes the deployment after a rest; others avoid it until the probe ends. */
  begins(deployment: string): boolean;
  /** The probe ended without a result, so another call may probe. */
  givesUp(deployment: string): void;
  /** Says for `/healthz` which deployments have failed and not answered since; null: none. */
  sentence(): string | null;
  register(registry: Registry): void;
}

/** Times are by the clock of `now`. */
interface DeploymentFailures {
  failures: number;
  lastAt: number;
  /** 0 if the deployment has not rested. */
  restsFrom: number;
  restsUntil: number;
  /** The end of the current probe; 0 if there is none. */
  probedUntil: number;
  /** Whether it last failed because it needs its operator. */
  needsOperator: boolean;
}

/** Keeps what attempts have told of each deployment. `now`: a monotonic clock, ms. */
function openRecords(now: () => number, log: Pick<Logger, 'info' | 'warn'>) {
  const records = new Map<string, DeploymentFailures>();

  /** Returns whether it counted, as `answered` does. */
  const failed = ({ beganAt, deployment, ...verdict }: AttemptAtDeployment): boolean => {
    const at = now();
    const known = records.get(deployment);
    if (known === undefined && records.size >= mostRecords) return false;
    const isFresh = known && at - Math.max(known.lastAt, known.restsUntil) <= staleMs;
    const record = isFresh
      ? known
      : { failures: 0, lastAt: at, restsFrom: 0, restsUntil: 0, probedUntil: 0, needsOperator: false };
    records.set(deployment, record);
    // A call that was in flight when the rest began says nothing new.
    if (beganAt < record.restsFrom) return false;
    record.failures += 1;
    record.lastAt = at;
    record.probedUntil = 0;
    record.needsOperator = verdict.result === 'needs_operator';
    const restMs = restOf(record.failures, verdict);
    if (restMs === 0) return true;
    // Logged once for each outage.
    if (record.restsUntil === 0) log.warn({ deployment, restMs }, 'a deployment fails; free calls go elsewhere first');
    record.restsFrom = at;
    record.restsUntil = Math.max(record.restsUntil, at + restMs);
    return true;
  };

  const answered = ({ beganAt, deployment }: AttemptAtDeployment): boolean => {
    const record = records.get(deployment);
    if (!record || beganAt < record.restsFrom) return false;
    records.delete(deployment);
    if (record.restsUntil > 0) log.info({ deployment }, 'a deployment answers again');
    return true;
  };

  return {
    get: (deployment: string) => records.get(deployment),
    judge: (attempt: AttemptAtDeployment): boolean =>
      attempt.result === 'answered' ? answered(attempt) : failed(attempt),
    failing: (): string[] =>
      [...records]
        .filter(([, { lastAt, restsUntil }]) => restsUntil > 0 && now() - Math.max(lastAt, restsUntil) <= staleMs)
        .map(([deployment]) => deployment),
  };
}

/** `now`: a monotonic clock, ms. `shared` is null if there is no other sidecar. */
export function createDeploymentHealth(
  now: () => number,
  log: Pick<Logger, 'info' | 'warn'>,
  shared: Shared<JudgedAttempt> | null = null,
): DeploymentHealth {
  const self = crypto.randomUUID();
  const records = openRecords(now, log);
  const isResting = (deployment: string): boolean => {
    const record = records.get(deployment);
    return record !== undefined && Math.max(record.restsUntil, record.probedUntil) > now();
  };
  /** Only what counted is told: an answer of a deployment that works costs no message. */
  const judgeAndTell = (attempt: AttemptAtDeployment): void => {
    if (!records.judge(attempt)) return;
    const { beganAt, deployment, result, retryAfterMs } = attempt;
    shared?.send({ from: self, deployment, result, retryAfterMs, agoMs: Math.max(0, now() - beganAt) });
  };
  shared?.receive(({ agoMs, from, ...attempt }) => {
    if (from !== self && attempt.result !== 'full') records.judge({ ...attempt, beganAt: now() - agoMs });
  });
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
    note: (attempt) => (attempt.result === 'full' ? givesUp(attempt.deployment) : judgeAndTell(attempt)),
    answeredPinned: (attempt) => {
      if (records.get(attempt.deployment)?.needsOperator)
        judgeAndTell({ ...attempt, result: 'answered', retryAfterMs: null });
    },
    sentence: () => sentenceOf(records.failing()),
    register: registering(failingGauge(records.failing)),
  };
}

const mostInSentence = 5;

function sentenceOf(failing: readonly string[]): string | null {
  if (failing.length === 0) return null;
  const further = failing.length - mostInSentence;
  const names = failing.slice(0, mostInSentence).join(', ') + (further > 0 ? ` and ${further} more` : '');
  return `Calls to ${names} fail, so calls that are not pinned try other deployments first. Check the provider; the log says when it began.`;
}

/** How many deployments the metric names; further ones are one series, `other`. */
const mostNamed = 100;

/** A series for each deployment that fails, and one with an empty name while none does, so that the metric is always there. */
function failingGauge(failing: () => readonly string[]): Gauge {
  return new Gauge({
    name: 'gw_deployments_failing',
    help: 'Deployments that have failed and not answered since, so that free calls go elsewhere first',
    labelNames: ['deployment'],
    registers: [],
    collect() {
      this.reset();
      const names = failing();
      for (const deployment of names.slice(0, mostNamed)) this.set({ deployment }, 1);
      const others = names.length - mostNamed;
      if (others > 0) this.set({ deployment: 'other' }, others);
      if (names.length === 0) this.set({ deployment: '' }, 0);
    },
  });
}

/** Returns how long a deployment rests after this many consecutive failures, ms. */
function restOf(failures: number, { result, retryAfterMs }: AttemptVerdict): number {
  // It stays as it is until its operator acts.
  if (result === 'needs_operator') return longestRestMs;
  const over = failures - failuresBeforeRest;
  const byFailures = over < 0 ? 0 : Math.min(longestRestMs, shortestRestMs * 2 ** Math.min(over, 10));
  return Math.max(byFailures, retryAfterMs === null ? 0 : Math.min(retryAfterMs, longestRetryAfterMs));
}
