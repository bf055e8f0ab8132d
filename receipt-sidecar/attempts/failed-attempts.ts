/**
 * Which attempts of calls failed, and why: the latter from the access log of the deployments' listeners, since Envoy only counts them.
 *
 * Invariant: it knows of no call but those under way here, and only a call that nobody may have answered waits for it, and briefly. Where
 * the word of the log comes too late, or reaches no sidecar, an attempt has failed for a reason that is not known.
 */
import { atCapacityHeader, credentialMissingHeader, unhealthyHeader } from '@gw/contract/internal/snapshot';
import { type AccessLogEntry, gwFields } from '@gw/envoy/shown-receipt';
import { z } from 'zod';
import type { Candidate } from '../catalogue/snapshot.ts';
import type { Headers } from '../wire/ext-proc.ts';
import type { MaybePromise } from '../wire/maybe-promise.ts';
import type { Shared } from '../wire/shared.ts';
import { type AttemptResult, attemptResults } from './deployment-health.ts';

/** In `routing_trace`; `failed` where it is not known. */
const attemptOutcomes = [
  'no_connection',
  'connection_lost',
  'timed_out',
  'rate_limited',
  'server_error',
  'no_credential',
  'at_capacity',
  'unhealthy',
  'failed',
] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

/** What a failed attempt says of the deployment. */
export interface Verdict {
  readonly result: AttemptResult;
  /** How long the provider asks to be left alone, ms; null if it does not say. */
  readonly retryAfterMs: number | null;
}

export interface FailedAttempt extends Verdict {
  readonly deployment: string;
  readonly outcome: AttemptOutcome;
}

export interface FailedAttempts {
  /** A call begins here that may be tried at more than one deployment. */
  begin(receiptId: string): void;
  tell(receiptId: string, attempt: FailedAttempt): void;
  /** Returns what is known of a call by now. */
  of(receiptId: string): readonly FailedAttempt[];
  /** Resolves when there is a word on the attempt at each of these, or none has come for `wordPatienceMs`; at once if none is missing. */
  words(receiptId: string, deployments: readonly string[]): MaybePromise<void>;
  end(receiptId: string): void;
}

/** How long a call may wait for the log, ms: some fifty times what it takes from one sidecar to another. */
const wordPatienceMs = 50;

const none: readonly FailedAttempt[] = [];

/** Without `shared` there is no other sidecar. */
export function createFailedAttempts(shared: Shared<[string, FailedAttempt]> | null): FailedAttempts {
  const calls = new Map<string, readonly FailedAttempt[]>();
  /** What looks again at a call that waits. */
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
    words: (receiptId, deployments) => {
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
        const timer = setTimeout(go, wordPatienceMs);
        waiting.set(receiptId, () => isMissing() || go());
      });
    },
    end: (receiptId) => void calls.delete(receiptId),
  };
}

/**
 * Returns those that failed before the last attempt. Envoy goes along the chain, and says who answered and how many it has tried:
 * those before the one that answered have failed. Where nobody knows who answered, all have but the last, which may only have had
 * too little time. `answeredBy` is the id of a deployment.
 */
export function failedBefore(
  failoverChain: readonly Candidate[],
  answeredBy: string | null,
  attempts: number,
): readonly Candidate[] {
  if (attempts < 2) return [];
  const at = failoverChain.findIndex(({ deployment }) => deployment.id === answeredBy);
  return failoverChain.slice(0, at === -1 ? attempts - 1 : at);
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

/** Returns the failed attempt that an entry of the access log tells of; null if it tells of something else. */
export function failedAttempt(entry: AccessLogEntry): { receiptId: string; attempt: FailedAttempt } | null {
  const gw = gwFields(entry);
  const [receiptId, deployment] = [gw?.attempt_of?.stringValue, gw?.deployment?.stringValue];
  if (!receiptId || !deployment) return null;
  const { responseCode, responseHeaders } = entry.response ?? {};
  const outcome = outcomeOf(entry);
  // Envoy says 429 there, so that the call goes on; the provider was not asked.
  if (outcome === 'no_credential' || outcome === 'at_capacity') {
    const result = outcome === 'at_capacity' ? 'full' : 'failed';
    return { receiptId, attempt: { deployment, outcome, result, retryAfterMs: null } };
  }
  // The route in front takes its attempt back when its time is over.
  const status = responseCode?.value || 504;
  return { receiptId, attempt: { deployment, outcome, ...verdictOf(status, responseHeaders?.['retry-after']) } };
}

/** Anthropic's way to say that it has too much to do. */
const overloaded = 529;

/** Reads a reply's status and its `Retry-After`, of which only seconds count. A 503 that names no time can be any trouble. */
export function verdictOf(status: number, retryAfter: string | undefined): Verdict {
  if (status < 500 && status !== 429) return { result: 'answered', retryAfterMs: null };
  const isBusy = status === 429 || status === overloaded;
  const seconds = isBusy || status === 503 ? Number(retryAfter ?? Number.NaN) : Number.NaN;
  const retryAfterMs = seconds > 0 ? seconds * 1000 : null;
  if (isBusy || retryAfterMs !== null) return { result: 'busy', retryAfterMs };
  return { result: status >= 502 && status <= 504 ? 'down' : 'failed', retryAfterMs };
}

export function outcomeOf({ commonProperties, response }: AccessLogEntry): AttemptOutcome {
  const flags = commonProperties?.responseFlags;
  if (response?.responseHeaders?.[credentialMissingHeader]) return 'no_credential';
  if (response?.responseHeaders?.[atCapacityHeader]) return 'at_capacity';
  if (flags?.noHealthyUpstream) return 'unhealthy';
  if (flags?.upstreamConnectionFailure || flags?.dnsResolutionFailure || flags?.noClusterFound) return 'no_connection';
  if (flags?.upstreamConnectionTermination || flags?.upstreamRemoteReset || flags?.upstreamProtocolError)
    return 'connection_lost';
  return outcomeOfStatus(response?.responseCode?.value || 504);
}

/** Of an attempt that was answered by one of `verdictOf`'s failures. */
export function outcomeOfStatus(status: number): Exclude<AttemptOutcome, 'failed'> {
  if (status === 429) return 'rate_limited';
  return status === 504 ? 'timed_out' : 'server_error';
}

/** What Envoy's own reply, in place of a provider's, says by its header. */
const outcomeByHeader = [
  [credentialMissingHeader, 'no_credential'],
  [atCapacityHeader, 'at_capacity'],
  [unhealthyHeader, 'unhealthy'],
] as const;
type UnaskedOutcome = (typeof outcomeByHeader)[number][1];

/** Returns null for the reply of a provider. */
export const ownOutcome = (headers: Headers): UnaskedOutcome | null =>
  outcomeByHeader.find(([header]) => headers.has(header))?.[1] ?? null;
