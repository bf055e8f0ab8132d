/**
 * Decides the limits of a call, tells the monitoring system, and takes back what nobody waits for any more.
 *
 * Two steps of Envoy ask. The check of the key lets in at once what has room, so that most calls need no second question; what
 * has none, Envoy asks about once more, in the rate-limit step, which alone refuses. Invariant: a call that is let in has taken
 * from each of its limits once, whichever step let it in, and one that is refused from none.
 */
import { setImmediate } from 'node:timers/promises';
import type { Decision } from '@gw/service/limits/decision';
import type { DrawnLimits } from '@gw/service/limits/drawn-limits';
import { type LimitHeader, limitHeaders } from '@gw/service/limits/limit-headers';
import type { LimitMetrics } from '@gw/service/limits/limit-metrics';
import type { Limiter } from '@gw/service/limits/limiter';

export interface AdmissionOptions {
  readonly limiter: Pick<Limiter, 'decide'>;
  readonly metrics: Pick<LimitMetrics, 'decided'>;
  /** Takes a call out of the day of its account and its key; null: a key without limits of its own. */
  readonly giveBack: (accountId: string, keyId: string | null) => void;
  /** Monotonic, ms. */
  readonly now?: () => number;
}

/** A question of Envoy: what the call draws on, and whether Envoy still waits for the answer. */
export interface LimitQuestion {
  readonly accountId: string;
  readonly kind: string;
  readonly drawn: DrawnLimits;
  /** When the question came; monotonic, ms. */
  readonly askedMs: number;
  readonly isGone: () => boolean;
}

export interface Admission {
  /** Returns the headers for the client of a call that is let in; null: that is for the rate-limit step to say. */
  letIn(question: LimitQuestion): Promise<readonly LimitHeader[] | null>;
  decide(question: LimitQuestion): Promise<{ readonly decision: Decision; readonly headers: LimitHeader[] }>;
}

/** A little less than Envoy gives one try at a question, before it puts it to another instance. */
const longMs = 500;
/** How long an account, or a key with limits of its own, that was found without room is left to the rate-limit step: a flood is decided once a call. */
const leftAloneMs = 1000;
/** Such ones remembered; the oldest go first. */
const capacity = 10_000;

export function openAdmission({
  giveBack,
  limiter,
  metrics,
  now = () => performance.now(),
}: AdmissionOptions): Admission {
  const withoutRoom = new Map<string, number>();
  const nameOf = ({ accountId, drawn, kind }: LimitQuestion): string =>
    `${kind} ${accountId} ${drawn.levels.find(({ of }) => of === 'key')?.id ?? ''}`;
  const isLeftAlone = (name: string): boolean => {
    const since = withoutRoom.get(name);
    if (since === undefined) return false;
    if (now() - since < leftAloneMs) return true;
    withoutRoom.delete(name);
    return false;
  };
  const leaveAlone = (name: string): void => {
    if (withoutRoom.size >= capacity) withoutRoom.delete(withoutRoom.keys().next().value ?? '');
    withoutRoom.set(name, now());
  };

  const admitted = async (question: LimitQuestion, decision: Decision): Promise<LimitHeader[]> => {
    const { accountId, drawn, kind } = question;
    metrics.decided(accountId, kind, drawn, decision);
    if (kind === 'calls' && (await isGivenUp(question, now())))
      giveBack(accountId, drawn.levels.find(({ of }) => of === 'key')?.id ?? null);
    return limitHeaders(drawn, decision);
  };

  return {
    async letIn(question) {
      const { accountId, drawn, kind } = question;
      const name = nameOf(question);
      // Looking up the key may have taken so long that Envoy asks another instance, or the same one anew: that takes.
      if (isLeftAlone(name) || (await isGivenUp(question, now()))) return null;
      const decision = await limiter.decide(accountId, kind, drawn);
      if (decision.admitted) return admitted(question, decision);
      // A smaller body may have room at once.
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

/**
 * Whether Envoy has put the question to another instance, which counts the call in its place, or has refused the call. A
 * process that stood still first hears of what has come meanwhile.
 */
async function isGivenUp({ askedMs, isGone }: LimitQuestion, nowMs: number): Promise<boolean> {
  if (nowMs - askedMs > longMs) await setImmediate();
  return isGone();
}
