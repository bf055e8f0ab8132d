/**
 * The limits of calls that a lease has let in (`ext-authz/lease.ts`): they take from their limits here, as all others do in ext-authz,
 * and are refused here where there is no room.
 *
 * Invariants: each leased call takes once, before its body is read; no provider is asked before it is known whether there was
 * room. While Redis is away each sidecar goes on with its share of each limit (`service/limits/limiter.ts`).
 */
import type { ApiError } from '@gw/contract/errors';
import type { IProcessingResponse, ProcessorCall } from '@gw/grpc/service';
import type { Decision } from '@gw/service/limits/decision';
import { type DrawnLimits, drawnLimits } from '@gw/service/limits/drawn-limits';
import { type LimitHeader, limitHeaders, metadataOf, refusalOf } from '@gw/service/limits/limit-headers';
import type { LimitMetrics } from '@gw/service/limits/limit-metrics';
import type { Limiter } from '@gw/service/limits/limiter';
import { setHeader, withGwFields } from '../wire/ext-proc.ts';

/** What the calls of a lease draw on. */
export interface LeasedFrom {
  readonly accountId: string;
  readonly drawn: DrawnLimits;
}

/** Throws for a text that ext-authz has not made. */
export const leasedFrom = (accountId: string, limits: string): LeasedFrom => ({
  accountId,
  drawn: drawnLimits('calls', accountId, limits),
});

/** The limits of one call. */
export interface CallLimits {
  /**
   * Tells why the call is refused, or null: at once if it is known, and then it returns nothing; else it returns a promise, which rejects
   * as `then` throws, or as the limits cannot be decided.
   */
  whenKnown(then: (refusal: ApiError | null) => void): Promise<void> | undefined;
  /**
   * Adds what the client is told of its limits to the answers that Envoy has it from: what the check of the key does for calls that
   * it has let in.
   */
  shownBy(call: ProcessorCall): ProcessorCall;
}

/** Of a call that ext-authz has let in by its limits. */
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

/** Returns what takes from the limits of a call, once, if its lease says so. */
export function openLeasedLimits({ limiter, metrics }: LeasedLimitsOptions) {
  const take = ({ accountId, drawn }: LeasedFrom): CallLimits => {
    let decision: Decision | null = null;
    let told: readonly LimitHeader[] = [];
    const decided = limiter.decide(accountId, 'calls', drawn).then((taken) => {
      decision = taken;
      told = limitHeaders(drawn, taken);
      metrics.decided(accountId, 'calls', drawn, taken);
    });
    // Whoever waits for it hears of an error; of a call that nobody waits for any more there is nothing to say.
    decided.catch(() => undefined);
    const refusal = () => (decision?.admitted === false ? refusalOf(drawn, decision) : null);
    return {
      whenKnown: (then) => (decision === null ? decided.then(() => then(refusal())) : void then(refusal())),
      shownBy: (call) => ({
        answer: (response, body) => call.answer(withLimits(response, told), body),
        fail: call.fail,
      }),
    };
  };
  return (leased: LeasedFrom | null): CallLimits => (leased === null ? decidedBefore : take(leased));
}

/**
 * Adds them to the headers of a reply, and to what Envoy knows of a call that goes to a provider: what replaces a reply whose headers
 * had come takes them from there (local-replies.ts and degraded.lua of Envoy).
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
