/**
 * Applies the limits of calls that a lease has admitted (`ext-authz/lease.ts`). ext-authz applies them to all other calls.
 *
 * Invariants: each leased call takes from its limits once, before its body is read; no provider is asked before the decision is known. While
 * Redis is unavailable, each sidecar goes on with its share of each limit (`service/limits/limiter.ts`).
 */
import type { ApiError } from '@gw/contract/errors';
import type { IProcessingResponse, ProcessorCall } from '@gw/grpc/service';
import type { Decision } from '@gw/service/limits/decision';
import { bodyKib, type DrawnLimits, drawnLimits, withBody } from '@gw/service/limits/drawn-limits';
import { type LimitHeader, limitHeaders, metadataOf, refusalOf } from '@gw/service/limits/limit-headers';
import type { LimitMetrics } from '@gw/service/limits/limit-metrics';
import type { Limiter } from '@gw/service/limits/limiter';
import { openSmallBodies } from '@gw/service/limits/small-bodies';
import { setHeader, withGwFields } from '../wire/ext-proc.ts';

/** The limits that the calls of a lease take from; `drawn` is of one with the smallest body. */
export interface LeasedFrom {
  readonly accountId: string;
  readonly drawn: DrawnLimits;
}

/** Throws if `limits` is not a text that ext-authz makes. */
export const leasedFrom = (accountId: string, limits: string): LeasedFrom => ({
  accountId,
  drawn: drawnLimits('calls', accountId, limits, 1),
});

export interface CallLimits {
  /**
   * Calls `then` with the refusal, or null if the call is admitted. If the decision is known it does so at once and returns nothing; otherwise
   * it returns a promise, which rejects if `then` throws or the limits cannot be decided.
   */
  whenKnown(then: (refusal: ApiError | null) => void): Promise<void> | undefined;
  /** Adds the headers about the limits to the answers of the call, as ext-authz does for calls that it admits. */
  shownBy(call: ProcessorCall): ProcessorCall;
}

/** For a call whose limits ext-authz has applied. */
export const decidedBefore: CallLimits = {
  whenKnown: (then) => {
    then(null);
    return undefined;
  },
  shownBy: (call) => call,
};

export interface LeasedLimitsOptions {
  readonly limiter: Pick<Limiter, 'decide'>;
  readonly metrics: Pick<LimitMetrics, 'decided'>;
}

/** The returned function takes from the limits of a call, if it was admitted by a lease. `length`: its `Content-Length`. */
export function openLeasedLimits({ limiter, metrics }: LeasedLimitsOptions) {
  const small = openSmallBodies();
  const take = ({ accountId, drawn: ofKey }: LeasedFrom, length: string | undefined): CallLimits => {
    const kib = bodyKib(length);
    const due = small.due(accountId, kib);
    const drawn = withBody(ofKey, due);
    let decision: Decision | null = null;
    let told: readonly LimitHeader[] = [];
    const decided = limiter.decide(accountId, 'calls', drawn).then((taken) => {
      decision = taken;
      told = limitHeaders(drawn, taken);
      metrics.decided(accountId, 'calls', drawn, taken);
      if (!taken.admitted) small.undo(accountId, kib, due);
    });
    // `whenKnown` reports an error; it needs no report if nobody waits for the call any more.
    decided.catch(() => undefined);
    const refusal = () => (decision?.admitted === false ? refusalOf(drawn, decision) : null);
    return {
      whenKnown: (then) => (decision === null ? decided.then(() => then(refusal())) : void then(refusal())),
      shownBy: (call) => showingThen(call, () => told),
    };
  };
  return (leased: LeasedFrom | null, length: string | undefined): CallLimits =>
    leased === null ? decidedBefore : take(leased, length);
}

/** Adds headers about limits to the answers of a call. */
export const showing = (call: ProcessorCall, limits: readonly LimitHeader[] | undefined): ProcessorCall =>
  limits ? showingThen(call, () => limits) : call;

const showingThen = (call: ProcessorCall, limits: () => readonly LimitHeader[]): ProcessorCall => ({
  answer: (response, body) => call.answer(withLimits(response, limits()), body),
  fail: call.fail,
});

/**
 * Adds the limits to the headers of a reply. For a call that goes to a provider it adds them to Envoy's metadata too, from which replies that
 * replace the provider's take them (local-replies.ts and degraded.lua of Envoy).
 */
function withLimits(response: IProcessingResponse, limits: readonly LimitHeader[]): IProcessingResponse {
  const { dynamicMetadata, immediateResponse: ending, requestBody, responseHeaders: head } = response;
  if (ending) {
    const headers = { ...ending.headers, setHeaders: [...(ending.headers?.setHeaders ?? []), ...shown(limits)] };
    return { ...response, immediateResponse: { ...ending, headers } };
  }
  if (head) {
    const mutation = head.response?.headerMutation;
    const headerMutation = { ...mutation, setHeaders: [...(mutation?.setHeaders ?? []), ...shown(limits)] };
    return { ...response, responseHeaders: { response: { ...head.response, headerMutation } } };
  }
  if (!requestBody || !dynamicMetadata) return response;
  return { ...response, dynamicMetadata: withGwFields(dynamicMetadata, metadataOf(limits)) };
}

const shown = (limits: readonly LimitHeader[]) => limits.map(({ key, value }) => setHeader(key, value));
