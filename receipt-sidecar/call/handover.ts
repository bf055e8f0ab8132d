/**
 * The two answers by which a call goes on: our request to a provider, and the head of the provider's reply to the
 * client.
 *
 * Invariant: a provider gets an allow-list of headers and no query, and so does the client of the provider's headers.
 */

import { type Addresses, apiError } from '@gw/contract/errors';
import { attemptReceipt } from '@gw/contract/internal/attempt-headers';
import { budgetHeaderName } from '@gw/contract/internal/budgets';
import { attemptOrderHeader, onceMore, requestIdField } from '@gw/contract/internal/first-attempt';
import { reexecuted } from '@gw/contract/internal/idempotency-key';
import type { IProcessingResponse, Metadata } from '@gw/grpc/service';
import type { Admitted } from '../admission/admission.ts';
import { returningFrom, speaksAnother } from '../api/behind.ts';
import { providerHeaders } from '../api/provider-headers.ts';
import { shapeOf } from '../api/shapes.ts';
import { type Attempts, timeoutsOf } from '../attempts/attempt-requests.ts';
import type { CallRecord } from '../receipt/call-record.ts';
import type { StandIn } from '../receipt/entry-content.ts';
import {
  bodyMode,
  gwMetadata,
  type Headers,
  headerMode,
  orderMetadata,
  pathOf,
  replyHeaders,
  setHeader,
} from '../wire/ext-proc.ts';
import { headersToRemove, patienceHeader, steeringHeaders, type Timeouts } from '../wire/headers.ts';
import type { Overhead } from '../wire/overhead.ts';

/** Reply headers that stay: the provider's type of content, and the id of the call, which Envoy has put in the place of the provider's. */
const shown = new Set(['content-type', 'x-request-id']);

/** Whether the reply with these headers is a stream that can be read as one. */
export const isStream = (headers: Headers): boolean =>
  headers.get(':status') === '200' && (headers.get('content-type') ?? '').toLowerCase().startsWith('text/event-stream');

interface SentHead {
  readonly request: Pick<Admitted['request'], 'endpoint' | 'stream' | 'terms'>;
  readonly route: Pick<Admitted['route'], 'failoverChain'>;
  /** The headers of the client's request. */
  readonly headers: Headers;
  readonly timeouts: Timeouts;
  readonly attempts: Pick<Attempts, 'apis' | 'body' | 'headers' | 'order' | 'others'>;
}

interface OutgoingHead extends SentHead {
  readonly timeouts: Timeouts & { readonly addresses: Addresses };
  readonly receiptId: string;
  readonly standIn: StandIn;
  /** Whether an earlier call with its idempotency key may have run. */
  readonly isRerun: boolean;
  /** The id of the slot of a stream; null for any other call. */
  readonly slot: string | null;
}

/** Returns the last answer to the request, which names the clusters of the attempts. The body goes beside it. */
export function toProvider(outgoing: OutgoingHead): IProcessingResponse {
  const { attempts, isRerun, receiptId, request, slot, standIn } = outgoing;
  const metadata = {
    receipt_id: receiptId,
    degraded: standIn.degraded,
    stand_in: standIn.sealed,
    api: request.endpoint,
    ...streamFields(request.endpoint),
    ...translationFields(outgoing),
    ...(standIn.assumed === null ? {} : { assumed: standIn.assumed }),
    ...(slot === null ? {} : { slot }),
    ...(isRerun ? { reexecuted } : {}),
  };
  return sent(outgoing, metadata, (timeouts) => [
    patienceHeader(request.stream, attempts.others, timeouts),
    ...(attempts.order.length > 1 ? [setHeader(attemptReceipt, receiptId)] : []),
  ]);
}

/** Like `toProvider`, for a call that makes no receipt: Envoy's last resort ends it as an error, and no filter looks for an answer in it. */
export function toProviderWithoutReceipt(outgoing: SentHead): IProcessingResponse {
  const { endpoint } = outgoing.request;
  return sent(outgoing, { degraded: '', api: shapeOf(endpoint).counts ?? endpoint }, () => []);
}

function sent(
  { attempts, headers, request, route, timeouts }: SentHead,
  metadata: Metadata,
  more: (timeouts: Timeouts) => readonly ReturnType<typeof setHeader>[],
): IProcessingResponse {
  const retries = attempts.order.length - 1;
  const ofFirst = timeoutsOf(route, timeouts);
  const ofApis = providerHeaders(request.endpoint, attempts.apis, (name) => headers.get(name));
  const forAttempts = [...attempts.headers, ...ofApis.map(([name, value]) => setHeader(name, value)), ...more(ofFirst)];
  const length = attempts.body.reduce((sum, part) => sum + part.length, 0);
  const setHeaders = [
    setHeader('content-length', String(length)),
    setHeader('content-type', 'application/json'),
    setHeader('accept-encoding', 'identity'),
    setHeader(attemptOrderHeader, retries > attempts.others ? onceMore : '1'),
    // A query is not part of the API, and could hold a client's secret.
    setHeader(':path', pathOf(headers)),
    ...forAttempts,
    ...steeringHeaders(request.stream, { others: attempts.others, retries }, ofFirst),
  ];
  const headerMutation = { setHeaders, removeHeaders: headersToRemove(headers) };
  const ofCall = { [requestIdField]: headers.get('x-request-id') ?? '', ...metadata };
  return {
    requestBody: { response: { headerMutation, clearRouteCache: true } },
    dynamicMetadata: orderMetadata(ofCall, attempts.order, forAttempts),
  };
}

/** Returns what Envoy's last resort needs to finish a stream without this process; nothing for an API without streams. */
export function streamFields(endpoint: string) {
  const { stream } = shapeOf(endpoint).reply;
  if (stream === null) return {};
  const { carrierMember, carriers, end, endEvent, event, idPrefix } = stream.lastResort;
  const ofCarriers = carriers.length === 0 ? {} : { carriers: carriers.join(' '), carrier_member: carrierMember ?? '' };
  return { stream_end: end, stream_end_event: endEvent, stream_event: event, id_prefix: idPrefix, ...ofCarriers };
}

/**
 * Returns which deployments' replies have to be translated, and the event by which a stream of these ends if this process does not live to
 * translate the rest. Nothing where each speaks the API of the client.
 */
function translationFields({ headers, request: { endpoint, terms }, route, timeouts }: OutgoingHead) {
  if (terms === undefined) return {};
  const others = route.failoverChain.filter(({ deployment }) => speaksAnother(endpoint, deployment));
  if (others.length === 0) return {};
  const { errorBody, reply } = shapeOf(endpoint);
  const requestId = headers.get('x-request-id') ?? null;
  const error = apiError('receipt_generation_failed');
  const reader = reply.stream?.open({ answers: 1, wantsUsage: false }, requestId);
  const lost = reader?.errorEvent(error, errorBody(error, timeouts.addresses, requestId), null, {});
  return { translated: others.map(({ deployment }) => deployment.id).join(' '), lost_event: String(lost ?? '') };
}

/** A call whose reply has begun, and the deployment that it is of. */
interface AnsweredCall extends Pick<CallRecord, 'servedBy'> {
  readonly identity: { readonly receiptId: string; readonly request: Pick<Admitted['request'], 'endpoint' | 'terms'> };
}

interface ShownHead {
  readonly isRerun: boolean;
  readonly stream: boolean;
  /** The header about budgets; null for none. */
  readonly budgets: string | null;
  readonly overhead: Overhead;
}

/** Returns the names of a provider's headers that its client does not get. */
export const notShown = (headers: Headers): string[] =>
  [...headers.keys()].filter((name) => !name.startsWith(':') && !shown.has(name));

/** Replaces the provider's `headers` by ours. The body of a stream then comes piece by piece, any other body whole. */
export function toClient(
  headers: Headers,
  { identity: { receiptId, request }, servedBy }: AnsweredCall,
  { budgets, isRerun, overhead, stream }: ShownHead,
): IProcessingResponse {
  const isTranslated = returningFrom(request, servedBy) !== null;
  const ofBudgets = budgets === null ? [] : [setHeader(budgetHeaderName, budgets)];
  const setHeaders = [...replyHeaders(receiptId, isRerun), ...ofBudgets, ...(stream ? overhead.headers(null) : [])];
  return {
    responseHeaders: { response: { headerMutation: { setHeaders, removeHeaders: notShown(headers) } } },
    modeOverride: {
      responseHeaderMode: headerMode.send,
      responseBodyMode: stream ? bodyMode.streamed : bodyMode.buffered,
    },
    dynamicMetadata: gwMetadata({ headers_done: true, ...(isTranslated && { is_translated: true }) }),
  };
}
