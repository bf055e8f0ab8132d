/**
 * Answers a reply whose body is not read: Envoy's own, one of a provider in which nothing here can be read, or a failure that Envoy has
 * found at the beginning of a reply.
 *
 * Invariant: the call is recorded, or discarded where no provider was reached, and its idempotency key is freed first.
 */
import { type Addresses, apiError } from '@gw/contract/errors';
import { firstEventHeader, unreadableReply } from '@gw/contract/internal/first-event';
import type { ProcessorCall } from '@gw/grpc/service';
import { faultError, providerError } from '../api/provider-errors/provider-error.ts';
import { shapeOf } from '../api/shapes.ts';
import type { JudgedReply } from '../attempts/attempt-outcome.ts';
import type { KeptReply } from '../guards/idempotency/kept-reply.ts';
import type { CallRecord } from '../receipt/call-record.ts';
import { advised } from '../reply/retry-advice.ts';
import { isUnreadable } from '../wire/compressed.ts';
import { answerAfter, type Headers, immediate, notAsked, replyHeaders, unchanged } from '../wire/ext-proc.ts';

interface UnreadReply {
  readonly record: CallRecord;
  readonly call: ProcessorCall;
  readonly kept: KeptReply | null;
  readonly addresses: Addresses;
  readonly headers: Headers;
  /** How often Envoy sent the request to a deployment. */
  readonly attempts: number;
  /** Whether there is no body. */
  readonly isEmpty: boolean;
  readonly judged: JudgedReply;
  /** The fields that the gateway had added to the request. */
  readonly added: readonly string[];
}

/** Returns whether it has answered: false for a reply whose body is to be read. */
export function answerUnread(unread: UnreadReply): boolean {
  const { added, addresses, attempts, call, headers, isEmpty, judged, kept, record } = unread;
  const { receiptId, request, requestId } = record.identity;
  const isRerun = kept?.mayHaveRun ?? false;
  if (!headers.has('x-gw-deployment')) {
    // Envoy's own reply (a time-out, no connection): our error object already.
    kept?.free(attempts > 0);
    if (attempts === 0) {
      record.discard(Number(headers.get(':status')));
      call.answer({ ...unchanged.responseHeaders, ...notAsked });
      return true;
    }
    const headerMutation = { setHeaders: replyHeaders(receiptId, isRerun) };
    const { saved } = record.breakOff('provider', null);
    answerAfter(saved, call, { responseHeaders: { response: { headerMutation } } }, record);
    return true;
  }
  const failure = headers.get(firstEventHeader);
  if (!isUnreadable(headers) && !isEmpty && failure === undefined) return false;
  kept?.free();
  const { fault, status } = judged;
  const words = failure === undefined ? '' : Buffer.from(failure, 'latin1').toString();
  const provider = { ...record.providerNames, added };
  const told =
    fault !== null
      ? faultError(fault)
      : status === 200 || failure === unreadableReply
        ? apiError('upstream_invalid_response')
        : providerError(status, words, request, provider);
  const error = advised(told, judged, attempts);
  const end = isEmpty ? 'nothing_generated' : failure === undefined ? 'unreadable' : 'error_reply';
  const { saved } = record.breakOff('provider', null, end);
  const body = shapeOf(request.endpoint).errorBody(error, addresses, requestId);
  answerAfter(saved, call, immediate(error, body, receiptId, isRerun), record);
  return true;
}
