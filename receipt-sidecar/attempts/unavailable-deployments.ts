/**
 * Detects deployments that are unavailable for a model, saturated or degraded, so that calls that can go nowhere else are refused with a
 * `Retry-After`.
 *
 * Invariants: a deployment becomes unavailable only after several consecutive failures of kinds that a request can hardly cause by itself,
 * and any answer ends it. It lasts for seconds, or for the provider's `Retry-After`; then calls are sent there again, so clients that stop
 * retrying cannot keep it closed.
 */
import { type DeploymentTrouble, troubleField } from '@gw/contract/internal/deployment-trouble';
import { deploymentTroublesKey } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';
import type { AttemptVerdict } from './attempt-outcome.ts';

export interface Trouble {
  readonly status: 'degraded' | 'saturated';
  /** How long the deployment stays unavailable from now on, ms. */
  readonly forMs: number;
  /** The consecutive calls that failed. */
  readonly failures: number;
}

/** Names the trouble that the calls of one account meet. */
export const ofAccount = (accountId: string, deployment: string, model: string): string =>
  `${accountId} ${troubleField(deployment, model)}`;

export interface MeasuredTrouble {
  note(name: string, verdict: AttemptVerdict): void;
  /** Returns null if the deployment can be tried. */
  of(name: string): Trouble | null;
}

/** A single refusal may be due to the size of that request. */
const busyBefore = 3;
/** How long a saturated provider without a `Retry-After` gets no calls, ms. */
const busyMs = 2000;
/** Caps the `Retry-After` of a provider, ms. */
const longestBusyMs = 60_000;
/** An instance that restarts fails fewer calls than this, and for less time. */
const downBefore = 5;
const downForMs = 6000;
/** How long calls to a degraded deployment are refused before one is tried again, ms. */
const refusedMs = 5000;
/** Failures that are older no longer count, ms. */
const staleMs = 60_000;
/** The names contain account ids, so their number needs a bound. */
const mostRecords = 10_000;

interface ConsecutiveFailures {
  busy: number;
  down: number;
  downSince: number;
  lastAt: number;
  until: number;
}

/** `now`: a monotonic clock, ms. `onChange` gets the trouble when it begins or continues, and null when an answer ends it. */
export function createMeasuredTrouble(
  now: () => number,
  onChange: (name: string, trouble: Trouble | null) => void = () => undefined,
): MeasuredTrouble {
  const records = new Map<string, ConsecutiveFailures>();
  const of = (name: string): Trouble | null => {
    const record = records.get(name);
    if (!record) return null;
    const forMs = record.until - now();
    if (forMs <= 0) return null;
    const { busy, down } = record;
    return busy > 0 ? { status: 'saturated', forMs, failures: busy } : { status: 'degraded', forMs, failures: down };
  };
  const recordOf = (name: string, at: number): ConsecutiveFailures => {
    const known = records.get(name);
    // Deleted and set again, so that the first key is the one that failed longest ago.
    records.delete(name);
    const [oldest] = records.keys();
    if (oldest !== undefined && records.size >= mostRecords) records.delete(oldest);
    const isFresh = known && at - known.lastAt <= staleMs;
    const record = isFresh ? known : { busy: 0, down: 0, downSince: at, lastAt: at, until: 0 };
    records.set(name, record);
    return record;
  };
  return {
    of,
    note: (name, { result, retryAfterMs }) => {
      if (result === 'answered') {
        const known = records.get(name);
        records.delete(name);
        if (known && known.until > 0) onChange(name, null);
        return;
      }
      // A 500 may be due to the request, a full deployment was not asked, and one that needs its operator says so itself.
      if (result !== 'busy' && result !== 'down') return;
      const at = now();
      const record = recordOf(name, at);
      record.until = Math.max(
        record.until,
        result === 'busy' ? busyUntil(record, at, retryAfterMs) : downUntil(record, at),
      );
      record.lastAt = at;
      const trouble = of(name);
      if (trouble) onChange(name, trouble);
    },
  };
}

function busyUntil(record: ConsecutiveFailures, at: number, retryAfterMs: number | null): number {
  record.busy += 1;
  record.down = 0;
  return record.busy < busyBefore ? 0 : at + Math.min(retryAfterMs ?? busyMs, longestBusyMs);
}

function downUntil(record: ConsecutiveFailures, at: number): number {
  if (record.down === 0) record.downSince = at;
  record.down += 1;
  record.busy = 0;
  return record.down < downBefore || at - record.downSince < downForMs ? 0 : at + refusedMs;
}

/** Longer than any trouble is shown, ms. */
const shownForMs = 900_000;

export interface ShownTrouble extends Omit<Trouble, 'status'> {
  readonly status: DeploymentTrouble['status'];
}

/**
 * Publishes troubles in Redis for `GET /v1/regions`; `now`: ms since 1970. It fails open: without Redis nothing is shown, and each entry
 * says until when it is valid. A sidecar removes only what it has published, since another one may have found the same.
 */
export function showTrouble(redis: Redis, now: () => number) {
  const shown = new Set<string>();
  return (name: string, trouble: ShownTrouble | null): void => {
    if (trouble === null) {
      if (shown.delete(name)) redis.hdel(deploymentTroublesKey, name).catch(() => undefined);
      return;
    }
    shown.add(name);
    const { failures, forMs, status } = trouble;
    const at = now();
    const entry: DeploymentTrouble = { status, failures, at, until: at + forMs };
    const written = redis.multi().hset(deploymentTroublesKey, name, JSON.stringify(entry));
    written
      .pexpire(deploymentTroublesKey, shownForMs)
      .exec()
      .catch(() => undefined);
  };
}
