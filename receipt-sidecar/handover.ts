/**
 * The two answers by which a call goes on: our request to a provider, and the head of the provider's reply to the client.
 *
 * Invariant: a provider gets an allow-list of headers and no query, and so does the client of the provider's headers.
 */
import type { IProcessingResponse } from '@gw/grpc/service';
import { bodyMode, gwMetadata, type Headers, headerMode, replyHeaders, setHeader } from './messages.ts';
import type { Admitted } from './request/admission.ts';
import { headersToRemove, steeringHeaders, type Timeouts } from './request/headers.ts';

/** What a chunk of a stream calls itself. */
export const chunkObjects = {
  chat: 'chat.completion.chunk',
  completions: 'text_completion',
  embeddings: '',
} as const;
/** Reply headers of a provider that a client may see; the rest is ours. */
const shown = new Set(['content-type']);

export const isStream = (headers: Headers): boolean =>
  headers.get(':status') === '200' && (headers.get('content-type') ?? '').toLowerCase().startsWith('text/event-stream');

interface OutgoingHead extends Pick<Admitted, 'request' | 'route'> {
  /** Of the client's request. */
  readonly headers: Headers;
  readonly path: string;
  /** Of the body in bytes. */
  readonly length: number;
  readonly timeouts: Timeouts;
  readonly receiptId: string;
  /** The receipt that the client gets if the sidecar does not finish. */
  readonly degraded: string;
  /** Of a stream: the id of its slot. */
  readonly slot: string | null;
}

export function toProvider(outgoing: OutgoingHead): IProcessingResponse {
  const { degraded, headers, length, path, receiptId, request, route, slot, timeouts } = outgoing;
  const setHeaders = [
    setHeader('content-length', String(length)),
    setHeader('content-type', 'application/json'),
    setHeader('accept-encoding', 'identity'),
    setHeader('x-gw-cluster', route.cluster),
    // A query is not part of the API, and could hold a client's secret.
    setHeader(':path', path),
    ...steeringHeaders(request.stream, route.failoverChain.length - 1, timeouts),
  ];
  const headerMutation = { setHeaders, removeHeaders: headersToRemove(headers) };
  const chunk_object = chunkObjects[request.endpoint];
  return {
    requestBody: { response: { headerMutation, clearRouteCache: true } },
    dynamicMetadata: gwMetadata({ receipt_id: receiptId, degraded, chunk_object, ...(slot === null ? {} : { slot }) }),
  };
}

/** `headers`: of the provider. The body of a stream then comes piece by piece, any other whole. */
export function toClient(headers: Headers, receiptId: string, stream: boolean): IProcessingResponse {
  const removeHeaders = [...headers.keys()].filter((name) => !name.startsWith(':') && !shown.has(name));
  return {
    responseHeaders: { response: { headerMutation: { setHeaders: replyHeaders(receiptId), removeHeaders } } },
    modeOverride: {
      responseHeaderMode: headerMode.send,
      responseBodyMode: stream ? bodyMode.streamed : bodyMode.buffered,
    },
    dynamicMetadata: gwMetadata({ headers_done: true }),
  };
}
