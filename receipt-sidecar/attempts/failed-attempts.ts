/**
 * Records which attempts of the calls in flight failed, and why. The reasons come from the access log of the deployments' listeners,
 * since Envoy's replies carry only a count.
 *
 * Invariant: only calls in flight here are recorded, and a call of which an attempt failed waits for the log, briefly: the entry may come by
 * another sidecar or a new connection, and so after the reply. If it is later still, or reaches no sidecar, the reason is unknown.
 */
import { type AccessLogEntry, gwFields } from '@gw/envoy/shown-receipt';
import { z } from 'zod';
import type { Candidate } from '../catalogue/snapshot.ts';
import type { MaybePromise } from '../wire/maybe-promise.ts';
import type { Shared } from '../wire/shared.ts';
import {
  type AttemptOutcome,
  type AttemptVerdict,
  attemptOutcomes,
  attemptResults,
  outcomeOf,
  repliedIn,
  verdictOf,
} from './attempt-outcome.ts';

export interface FailedAttempt extends AttemptVerdict {
  readonly deployment: string;
  readonly outcome: AttemptOutcome;
}

export interface FailedAttempts {
  /** Starts recording a call that may be tried at more than one deployment. */
  begin(receiptId: string): void;
  tell(receiptId: string, attempt: FailedAttempt): void;
  /** Returns the failed attempts that are known so far. */
  of(receiptId: string): readonly FailedAttempt[];
  /** Resolves when the attempt at each of these deployments is known, or after `logPatienceMs`; immediately if none is missing. */
  words(receiptId: string, candidates: readonly Candidate[]): MaybePromise<void>;
  end(receiptId: string): void;
}

/** How long a call may wait for the log, ms: some fifty times what an entry takes from one sidecar to another. */
export const logPatienceMs = 50;

const none: readonly FailedAttempt[] = [];

/** `shared` is null if there is no other sidecar. */
export function createFailedAttempts(shared: Shared<[string, FailedAttempt]> | null): FailedAttempts {
  const calls = new Map<string, readonly FailedAttempt[]>();
  /** For each call that waits: rechecks whether it still has to. */
  const waiting = new Map<string, () => void>();
  const note = (receiptId: string, attempt: FailedAttempt): boolean => {
    const known = calls.get(receiptId);
    if (known) calls.set(receiptId, [...known, attempt]);
    waiting.get(receiptId)?.();
    return known !== undefined;
  };
  shared?.receive((told) => void note(...told));
  return {
    begin: (receiptId) => void calls.set(receiptId, none),
    tell: (receiptId, attempt) => {
      if (!note(receiptId, attempt)) shared?.send([receiptId, attempt]);
    },
    of: (receiptId) => calls.get(receiptId) ?? none,
    words: (receiptId, candidates) => {
      const deployments = candidates.map(({ deployment }) => deployment.id);
      const isMissing = () => {
        const told = new Set(calls.get(receiptId)?.map(({ deployment }) => deployment) ?? deployments);
        return deployments.some((each) => !told.has(each));
      };
      if (!isMissing()) return;
      return new Promise((resolve) => {
        const go = () => {
          clearTimeout(timer);
          waiting.delete(receiptId);
          resolve();
        };
        const timer = setTimeout(go, logPatienceMs);
        waiting.set(receiptId, () => isMissing() || go());
      });
    },
    end: (receiptId) => void calls.delete(receiptId),
  };
}

/**
 * Returns the deployments that failed before the last attempt. Envoy tries the chain in order and reports the id of the deployment that
 * answered and the number of attempts, so all before that one have failed. If `answeredBy` is null, all but the last have failed; the
 * last one may only have had too little time. With more attempts than deployments, the last deployment was sent the call twice.
 */
export function failedBefore(
  failoverChain: readonly Candidate[],
  answeredBy: string | null,
  attempts: number,
): readonly Candidate[] {
  if (attempts < 2) return [];
  const at = failoverChain.findIndex(({ deployment }) => deployment.id === answeredBy);
  const end = at === -1 || attempts > failoverChain.length ? attempts - 1 : at;
  return failoverChain.slice(0, end);
}

export const failedAttemptSchema = z.tuple([
  z.string(),
  z.object({
    deployment: z.string(),
    outcome: z.enum(attemptOutcomes),
    result: z.enum(attemptResults),
    retryAfterMs: z.number().nullable(),
  }),
]);

/** Reads a failed attempt from an access log entry; null if the entry is about something else. */
export function failedAttempt(entry: AccessLogEntry): { receiptId: string; attempt: FailedAttempt } | null {
  const gw = gwFields(entry);
  const [receiptId, deployment] = [gw?.attempt_of?.stringValue, gw?.deployment?.stringValue];
  if (!receiptId || !deployment) return null;
  const outcome = outcomeOf(entry);
  // The listener returns 429 so that Envoy tries the next deployment; the provider was not asked.
  if (outcome === 'no_credential' || outcome === 'at_capacity') {
    const result = outcome === 'at_capacity' ? 'full' : 'failed';
    return { receiptId, attempt: { deployment, outcome, result, retryAfterMs: null } };
  }
  return { receiptId, attempt: { deployment, outcome, ...verdictOf(repliedIn(entry.response)) } };
}
