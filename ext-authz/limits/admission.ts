/**
 * Decides the limits of a call, updates the metrics, and refunds calls that Envoy has given up.
 *
 * Envoy asks in two steps. The key check admits calls within their limits, so that most need no second request. For the others Envoy
 * asks again in the rate limit step, which alone refuses. Invariant: an admitted call has taken from each of its limits once, whichever
 * step admitted it, and a refused one from none.
 */
import { setImmediate } from 'node:timers/promises';
import { dropOldest } from '@gw/service/drop-oldest';
import type { Decision } from '@gw/service/limits/decision';
import type { DrawnLimits } from '@gw/service/limits/drawn-limits';
import { type LimitHeader, limitHeaders } from '@gw/service/limits/limit-headers';
import type { LimitMetrics } from '@gw/service/limits/limit-metrics';
import type { Limiter } from '@gw/service/limits/limiter';

export interface AdmissionOptions {
  readonly limiter: Pick<Limiter, 'decide'>;
  readonly metrics: Pick<LimitMetrics, 'decided'>;
  /** Refunds a call to the day budgets of its account and key; null: a key without limits of its own. */
  readonly giveBack: (accountId: string, keyId: string | null) => void;
  /** Monotonic, ms. */
  readonly now?: () => number;
}

/** A request of Envoy, with the limits of the call. */
export interface LimitQuestion {
  readonly accountId: string;
  readonly kind: string;
  readonly drawn: DrawnLimits;
  /** Arrival of the request; monotonic, ms. */
  readonly askedMs: number;
  /** Whether Envoy has stopped waiting for the answer. */
  readonly isGone: () => boolean;
}

export interface Admission {
  /** Returns the headers for the client of an admitted call, or null to leave it to the rate limit step. */
  letIn(question: LimitQuestion): Promise<readonly LimitHeader[] | null>;
  decide(question: LimitQuestion): Promise<{ readonly decision: Decision; readonly headers: LimitHeader[] }>;
}

/** A little less than the time after which Envoy asks another instance. */
const longMs = 500;
/** How long an account or key at its limit is left to the rate limit step, so that each call of a flood is decided once. */
const leftAloneMs = 1000;
/** The most of these remembered. */
const capacity = 10_000;

export function openAdmission({
  giveBack,
  limiter,
  metrics,
  now = () => performance.now(),
}: AdmissionOptions): Admission {
  const withoutRoom = new Map<string, number>();
  const nameOf = ({ accountId, drawn, kind }: LimitQuestion): string => `${kind} ${accountId} ${limitedKey(drawn)}`;
  const isLeftAlone = (name: string): boolean => {
    const since = withoutRoom.get(name);
    if (since === undefined) return false;
    if (now() - since < leftAloneMs) return true;
    withoutRoom.delete(name);
    return false;
  };
  const leaveAlone = (name: string): void => {
    dropOldest(withoutRoom, capacity);
    withoutRoom.set(name, now());
  };

  const admitted = async (question: LimitQuestion, decision: Decision): Promise<LimitHeader[]> => {
    const { accountId, drawn, kind } = question;
    metrics.decided(accountId, kind, drawn, decision);
    if (kind === 'calls' && (await isGivenUp(question, now()))) giveBack(accountId, limitedKey(drawn));
    return limitHeaders(drawn, decision);
  };

  return {
    async letIn(question) {
      const { accountId, drawn, kind } = question;
      const name = nameOf(question);
      // If the key lookup took too long, Envoy has asked again, and that request takes from the limits.
      if (isLeftAlone(name) || (await isGivenUp(question, now()))) return null;
      const decision = await limiter.decide(accountId, kind, drawn);
      if (decision.admitted) return admitted(question, decision);
      // If only the body was too large, a call with a smaller one may still be admitted.
      const isForCalls = (decision.lacking & ((1 << (2 * drawn.levels.length)) - 1)) !== 0;
      if (isForCalls) leaveAlone(name);
      return null;
    },

    async decide(question) {
      const { accountId, drawn, kind } = question;
      const decision = await limiter.decide(accountId, kind, drawn);
      if (decision.admitted) return { decision, headers: await admitted(question, decision) };
      metrics.decided(accountId, kind, drawn, decision);
      return { decision, headers: limitHeaders(drawn, decision) };
    },
  };
}

/** Returns the id of the key if it has limits of its own. */
const limitedKey = ({ levels }: DrawnLimits): string | null => levels.find(({ of }) => of === 'key')?.id ?? null;

/**
 * Whether Envoy has asked another instance, which counts the call instead, or has refused the call. After a suspension of this process
 * it first processes the events that have arrived.
 */
async function isGivenUp({ askedMs, isGone }: LimitQuestion, nowMs: number): Promise<boolean> {
  if (nowMs - askedMs > longMs) await setImmediate();
  return isGone();
}
