/**
 * Which deployments cannot take calls of a model, for calls that can go nowhere else.
 *
 * Invariants: it takes several failures in a row, of kinds that a request can hardly cause by itself, and any answer ends it. It lasts for
 * seconds, or as long as the provider asks; then calls go there again and tell anew, so nobody who gives up can keep it shut.
 */
import { troubleField } from '@gw/contract/internal/deployment-trouble';
import type { Verdict } from './failed-attempts.ts';

/** That a deployment cannot take calls of a model, for `forMs` more. */
export interface Trouble {
  readonly status: 'degraded' | 'saturated';
  readonly forMs: number;
  /** How many calls in a row it did not answer. */
  readonly failures: number;
}

/** Names what the calls of one account find. */
export const ofAccount = (accountId: string, deployment: string, model: string): string =>
  `${accountId} ${troubleField(deployment, model)}`;

export interface MeasuredTrouble {
  note(name: string, verdict: Verdict): void;
  /** Returns why calls cannot go there; null if they can be tried. */
  of(name: string): Trouble | null;
}

/** One refusal can be about the size of that request. */
const busyBefore = 3;
/** How long a provider is spared that refuses calls and says no time, ms. */
const busyMs = 2000;
/** However long it asks for. */
const longestBusyMs = 60_000;
/** More calls, and more time (ms), than an instance takes that is started anew. */
const [downBefore, downForMs] = [5, 6000];
/** How long calls are refused before they try again, ms. */
const refusedMs = 5000;
/** What is older says nothing of now, ms. */
const staleMs = 60_000;
/** Ids of accounts are among the names. */
const mostRecords = 10_000;

interface Failures {
  busy: number;
  down: number;
  downSince: number;
  lastAt: number;
  until: number;
}

/** `now`: ms, of a clock that nobody sets. `onChange` is told of trouble that begins or goes on, and, with null, of an answer. */
export function createMeasuredTrouble(
  now: () => number,
  onChange: (name: string, trouble: Trouble | null) => void = () => undefined,
): MeasuredTrouble {
  const records = new Map<string, Failures>();
  const of = (name: string): Trouble | null => {
    const record = records.get(name);
    const forMs = (record?.until ?? 0) - now();
    if (!record || forMs <= 0) return null;
    const { busy, down } = record;
    return busy > 0 ? { status: 'saturated', forMs, failures: busy } : { status: 'degraded', forMs, failures: down };
  };
  const recordOf = (name: string, at: number): Failures => {
    const known = records.get(name);
    // The last one to fail is the last one to be forgotten.
    records.delete(name);
    if (records.size >= mostRecords) records.delete(records.keys().next().value ?? '');
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
      // An error 500 can be about the request, and of what is not known, or was not asked, nothing can be said.
      if (result === 'failed' || result === 'full') return;
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

function busyUntil(record: Failures, at: number, retryAfterMs: number | null): number {
  record.busy += 1;
  record.down = 0;
  return record.busy < busyBefore ? 0 : at + Math.min(retryAfterMs ?? busyMs, longestBusyMs);
}

function downUntil(record: Failures, at: number): number {
  if (record.down === 0) record.downSince = at;
  record.down += 1;
  record.busy = 0;
  return record.down < downBefore || at - record.downSince < downForMs ? 0 : at + refusedMs;
}
