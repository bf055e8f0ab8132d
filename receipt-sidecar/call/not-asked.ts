/**
 * Answers a call whose last deployment was not asked: it has no credential, or as many calls as it takes at once, is
 * unhealthy, or Envoy does not know it yet.
 *
 * Invariant: no receipt where no provider was asked at all. Where that is not known, one counts as asked.
 */
import { type Addresses, type ApiError, apiError } from '@gw/contract/errors';
import { operatorFaults } from '@gw/contract/internal/operator-faults';
import type { ProcessorCall } from '@gw/grpc/service';
import { faultError } from '../api/provider-errors/provider-error.ts';
import { shapeOf } from '../api/shapes.ts';
import { type AttemptOutcome, ownOutcome } from '../attempts/attempt-outcome.ts';
import { type FailedAttempts, failedBefore } from '../attempts/failed-attempts.ts';
import { settlements } from '../attempts/settlement.ts';
import type { Answered } from '../attempts/watch-attempts.ts';
import type { CallRecord } from '../receipt/call-record.ts';
import { retryAfterS } from '../reply/retry-advice.ts';
import { optionPath } from '../routing/route.ts';
import { answerAfter, type Headers, immediate, notAsked } from '../wire/ext-proc.ts';

/** Whether the reply with these headers is Envoy's own, in place of a provider's. */
export const isNotAsked = (headers: Headers): boolean => ownOutcome(headers) !== null;

interface Context {
  readonly addresses: Addresses;
  readonly failedAttempts: Pick<FailedAttempts, 'of' | 'tell'>;
}

/** Call once it is known what came of the attempts before the last one, as far as it will be. */
export function answerNotAsked(
  record: CallRecord,
  call: ProcessorCall,
  ending: Answered,
  { addresses, failedAttempts }: Context,
): void {
  const { attempts, headers } = ending;
  const { receiptId, request, requestId, route } = record.identity;
  const known = failedAttempts.of(receiptId);
  const outcomes = failedBefore(route.failoverChain, ending.deployment, attempts).map(
    ({ deployment: { id } }) => known.find(({ deployment }) => deployment === id)?.outcome ?? 'failed',
  );
  const last = outcomes.filter((outcome) => settlements[outcome].hasReceipt).at(-1);
  const waitMs = known.find(({ outcome }) => outcome === last)?.retryAfterMs ?? null;
  const own = ownOutcome(headers);
  const error =
    own === 'no_credential'
      ? apiError('upstream_credential_missing')
      : last !== undefined
        ? errorAfter(last, waitMs)
        : own === 'not_ready'
          ? apiError('overloaded')
          : nobodyAsked(record.identity, own === 'at_capacity' || outcomes.includes('at_capacity'));
  const body = shapeOf(request.endpoint).errorBody(error, addresses, requestId);
  if (last === undefined) {
    record.discard(error.status);
    return call.answer({ ...immediate(error, body, null), ...notAsked });
  }
  // The log may not have said so yet, and the trace names it. Nothing is judged by it any more.
  if (own && ending.deployment)
    failedAttempts.tell(receiptId, { deployment: ending.deployment, outcome: own, result: 'full', retryAfterMs: null });
  // It is not this one that served the call.
  record.answeredBy(null, attempts, { status: Number(headers.get(':status')), fault: null }, last);
  answerAfter(record.breakOff('provider', null).saved, call, immediate(error, body, receiptId), record);
}

/** `isFull`: at least one would have room again with the end of a call, and all others are unhealthy or have no credential. */
function nobodyAsked({ request, route }: CallRecord['identity'], isFull: boolean): ApiError {
  if (route.pinned) {
    const param = optionPath(request, 'region');
    if (isFull) return apiError('region_saturated', { param });
    const message = 'The pinned region is in incident mode: none of its providers is healthy.';
    return apiError('region_degraded', { param, message });
  }
  const tried = 'deployment that was tried for this call';
  if (!isFull)
    return apiError('upstream_error', {
      message: `No ${tried} can take it at the moment. Nothing was sent to a provider.`,
    });
  return apiError('overloaded', {
    message: `Every ${tried} is at capacity or cannot take it. Nothing was sent to a provider; try again after the time in Retry-After.`,
  });
}

/** Returns the error about the provider that was asked last. `waitMs`: when it wants to be asked again; null if it did not say. */
function errorAfter(outcome: AttemptOutcome, waitMs: number | null): ApiError {
  const fault = operatorFaults.find((each) => each === outcome);
  if (fault) return faultError(fault);
  const advice = waitMs === null ? {} : { retryAfterS: retryAfterS(waitMs) };
  if (outcome === 'rate_limited') return apiError('upstream_rate_limited', advice);
  return apiError(outcome === 'timed_out' ? 'upstream_timeout' : 'upstream_error', advice);
}
