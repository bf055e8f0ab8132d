/**
 * Answers a call whose last deployment was not asked: it has no credential, or as many calls as it takes at once.
 *
 * Invariant: no receipt where no provider was asked at all. Where that is not known, one counts as asked.
 */
import { type Addresses, type ApiError, apiError, errorBody } from '@gw/contract/errors';
import { atCapacityHeader, credentialMissingHeader } from '@gw/contract/internal/snapshot';
import type { ProcessorCall } from '@gw/grpc/service';
import type { CallRecord } from './call-record.ts';
import type { AttemptOutcome, FailedAttempts } from './failed-attempts.ts';
import { answerAfter, finished, type Headers, immediate } from './messages.ts';
import { optionPath } from './request/route.ts';

/** After which a provider has nothing of a call. */
const unasked: ReadonlySet<AttemptOutcome> = new Set<AttemptOutcome>(['no_credential', 'at_capacity', 'unhealthy']);

/** Whether the reply with these headers is Envoy's own, in place of a provider's. */
export const isNotAsked = (headers: Headers): boolean =>
  headers.has(credentialMissingHeader) || headers.has(atCapacityHeader);

interface Context {
  readonly addresses: Addresses;
  readonly failedAttempts: Pick<FailedAttempts, 'of'>;
}

/** `attempts`: Envoy's count of tried deployments, with this one. */
export function answerNotAsked(
  record: CallRecord,
  call: ProcessorCall,
  { attempts, headers }: { readonly attempts: number; readonly headers: Headers },
  { addresses, failedAttempts }: Context,
): void {
  const { receiptId, request, route } = record.identity;
  const known = failedAttempts.of(receiptId);
  const chain = route.failoverChain.map(({ deployment }) => deployment.id);
  const at = chain.indexOf(headers.get('x-gw-deployment') ?? '');
  // Those before it were tried.
  const outcomes = chain
    .slice(0, at === -1 ? attempts - 1 : at)
    .map((id) => known.find(({ deployment }) => deployment === id)?.outcome ?? 'failed');
  const last = outcomes.filter((outcome) => !unasked.has(outcome)).at(-1);
  const error = headers.has(credentialMissingHeader)
    ? apiError('upstream_credential_missing')
    : last !== undefined
      ? apiError(errorAfter(last))
      : route.pinned
        ? apiError('region_saturated', { param: optionPath(request, 'region') })
        : everywhereFull();
  const body = errorBody(error, addresses);
  if (last === undefined) {
    record.discard();
    return call.answer({ ...immediate(error, body, null), ...finished });
  }
  // It is not this one that served the call.
  record.answeredBy(null, attempts, Number(headers.get(':status')));
  answerAfter(record.breakOff('provider', null).saved, call, immediate(error, body, receiptId));
}

const everywhereFull = (): ApiError =>
  apiError('overloaded', {
    message:
      'Every deployment that was tried for this call is at capacity. Nothing was sent to a provider; try again after the time in Retry-After.',
  });

/** What a client is told of the provider that was asked last. */
function errorAfter(outcome: AttemptOutcome) {
  if (outcome === 'rate_limited') return 'upstream_rate_limited';
  return outcome === 'timed_out' ? 'upstream_timeout' : 'upstream_error';
}
