/**
 * One inference call as ext_proc shows it: request headers, request body, response headers, response body.
 *
 * Invariants: every message is answered; the cluster of a provider is named only in the last request answer, so a call
 * whose request phase fails reaches no provider; a call that reached one is recorded exactly once.
 */
import { type Addresses, type ApiError, apiError, errorBody } from '@gw/contract/errors';
import type { ProcessingRequest, Processor, ProcessorCall } from '@gw/envoy/rpc/service';
import { CallRecord } from './call-record.ts';
import type { Ends } from './ends.ts';
import type { LedgerWriter } from './ledger/writer.ts';
import {
  answerAfter,
  attemptCount,
  bodyMode,
  bytesOf,
  type Caller,
  gwMetadata,
  type Headers,
  headerMode,
  immediate,
  joinedHeaders,
  readCaller,
  readHeaders,
  setHeader,
  unchanged,
} from './messages.ts';
import { newReceiptId } from './receipt.ts';
import type { ReceiptCounts } from './receipt-counts.ts';
import { headersToRemove, refusedHeaders, tooLarge } from './request/headers.ts';
import { endpoints, type ParsedRequest, parseRequest, serialise } from './request/parse.ts';
import { chooseRoute, type Route } from './request/route.ts';
import { providerError } from './response/provider-error.ts';
import { JsonReply, type Reply, StreamReply } from './response/reply.ts';
import { openTelemetry } from './response/telemetry.ts';
import type { Catalogue } from './snapshot.ts';

export interface CallContext {
  readonly addresses: Addresses;
  readonly catalogue: () => Catalogue | null;
  readonly ledger: LedgerWriter;
  readonly counts: ReceiptCounts;
  readonly ends: Ends;
  readonly now: () => number;
  /** The whole time of a JSON reply, and the time to the first byte of a stream before the next region is tried. */
  readonly upstreamTimeoutS: number;
  readonly firstByteTimeoutS: number;
}

const chunkObjects = { chat: 'chat.completion.chunk', completions: 'text_completion', embeddings: '' } as const;
/** Reply headers of a provider that a client may see; the rest is ours. */
const shown = new Set(['content-type', 'cache-control']);

export class Call implements Processor {
  readonly #context: CallContext;
  readonly #call: ProcessorCall;
  #headers: Headers = new Map();
  #caller: Caller | null = null;
  #record: CallRecord | null = null;
  #reply: Reply | null = null;

  constructor(context: CallContext, call: ProcessorCall) {
    this.#context = context;
    this.#call = call;
  }

  message(request: ProcessingRequest): void {
    if (request.requestHeaders) this.#requestHeaders(request);
    else if (request.requestBody) this.#requestBody(bytesOf(request.requestBody.body));
    else if (request.responseHeaders) this.#responseHeaders(request);
    else if (request.responseBody)
      this.#responseBody(bytesOf(request.responseBody.body), request.responseBody.endOfStream ?? false);
    else this.#call.answer(request.responseTrailers ? { responseTrailers: {} } : { requestTrailers: {} });
  }

  close(): void {
    const record = this.#record;
    this.#reply?.close();
    if (!record || record.recorded) return;
    const seen = this.#reply?.seen ?? null;
    const { ends } = this.#context;
    ends
      .ask(record.identity.receiptId)
      .then((by) => (by === 'nobody' ? undefined : record.breakOff(by, seen).saved))
      .catch(this.#call.fail);
  }

  #requestHeaders(request: ProcessingRequest): void {
    this.#headers = readHeaders(request.requestHeaders);
    this.#caller = readCaller(request);
    if (!this.#caller) return this.#refuse(apiError('internal_error'));
    const refused = refusedHeaders(this.#headers);
    if (refused) return this.#refuse(refused);
    if (request.requestHeaders?.endOfStream)
      return this.#refuse(apiError('invalid_json', { message: 'The body is empty; send a JSON object.' }));
    this.#call.answer({
      ...unchanged.requestHeaders,
      modeOverride: { requestBodyMode: bodyMode.buffered, responseHeaderMode: headerMode.send },
    });
  }

  #requestBody(bytes: Buffer): void {
    const catalogue = this.#context.catalogue();
    const endpoint = endpoints[this.#path()];
    // Fail closed: without a catalogue nobody can say which models and regions there are.
    if (!catalogue || !endpoint || !this.#caller) return this.#refuse(apiError('internal_error'));
    if (tooLarge(bytes)) return this.#refuse(apiError('request_too_large'));
    const parsed = parseRequest(endpoint, bytes);
    if (!parsed.ok) return this.#refuse(parsed.error);
    const routed = chooseRoute(parsed.request, catalogue, this.#caller.models);
    if (!routed.ok) return this.#refuse(routed.error);
    this.#send(parsed.request, routed.route, this.#caller, catalogue);
  }

  #send(request: ParsedRequest, route: Route, caller: Caller, catalogue: Catalogue): void {
    const nowMs = this.#context.now();
    const receiptId = newReceiptId(nowMs);
    const identity = {
      receiptId,
      createdAt: new Date(nowMs).toISOString(),
      requestId: this.#headers.get('x-request-id') ?? null,
      request,
      route,
    };
    this.#record = new CallRecord(identity, caller, catalogue, this.#context);
    const degraded = this.#record.begin();
    const body = serialise(request, route.providerModel, route.model.takesTemperature);
    this.#call.answer({
      requestBody: {
        response: {
          bodyMutation: { body },
          headerMutation: {
            setHeaders: [
              setHeader('content-length', String(body.length)),
              setHeader('content-type', 'application/json'),
              setHeader('accept-encoding', 'identity'),
              setHeader('x-gw-cluster', route.cluster),
              // A query is no part of the API, and could hold a client's secret.
              setHeader(':path', this.#path()),
              ...this.#steering(request, route),
            ],
            removeHeaders: headersToRemove(this.#headers),
          },
          clearRouteCache: true,
        },
      },
      dynamicMetadata: gwMetadata({ receipt_id: receiptId, degraded, chunk_object: chunkObjects[request.endpoint] }),
    });
  }

  /** Headers for Envoy's router; the listener of a deployment takes them off again. */
  #steering(request: ParsedRequest, route: Route) {
    const { upstreamTimeoutS, firstByteTimeoutS } = this.#context;
    const others = route.order.length - 1;
    const timeouts = request.stream
      ? [
          setHeader('x-gw-stream', 'true'), // a route with an idle time-out
          setHeader('x-envoy-upstream-rq-timeout-ms', '0'),
          // Ends at the response headers of a stream; of JSON it would cut long completions and pay for them twice.
          ...(others > 0
            ? [setHeader('x-envoy-upstream-rq-per-try-timeout-ms', String(firstByteTimeoutS * 1000))]
            : []),
        ]
      : [setHeader('x-envoy-upstream-rq-timeout-ms', String(upstreamTimeoutS * 1000))];
    return [setHeader('x-envoy-max-retries', String(others)), ...timeouts];
  }

  #responseHeaders(request: ProcessingRequest): void {
    const record = this.#record;
    if (!record) return this.#call.answer(unchanged.responseHeaders);
    const headers = readHeaders(request.responseHeaders);
    const deployment = headers.get('x-gw-deployment') ?? null;
    const attempts = attemptCount(request);
    record.answeredBy(deployment, attempts);
    const { receiptId } = record.identity;
    if (deployment === null) {
      // Envoy's own reply (a time-out, no connection): our error object already.
      const finished = { dynamicMetadata: gwMetadata({ done: true }) };
      if (attempts === 0) {
        record.discard();
        return this.#call.answer({ ...unchanged.responseHeaders, ...finished });
      }
      const headerMutation = { setHeaders: [setHeader('x-gw-receipt-id', receiptId)] };
      const { saved } = record.breakOff('provider', null);
      return answerAfter(saved, this.#call, { responseHeaders: { response: { headerMutation } }, ...finished });
    }
    const status = Number(headers.get(':status'));
    const contentType = (headers.get('content-type') ?? '').toLowerCase();
    const encoding = headers.get('content-encoding')?.toLowerCase() ?? 'identity';
    const stream = status === 200 && record.identity.request.stream && contentType.startsWith('text/event-stream');
    const { addresses } = this.#context;
    if (encoding !== 'identity' || request.responseHeaders?.endOfStream) {
      // Encoded although identity was asked for, or no body at all: nothing here can be read.
      const error = status === 200 ? apiError('upstream_invalid_response') : providerError(status, '');
      const { saved } = record.breakOff('provider', null);
      return answerAfter(saved, this.#call, immediate(error, errorBody(error, addresses), receiptId));
    }
    const telemetry = openTelemetry(record.telemetryShape, () => joinedHeaders(request.responseHeaders));
    const replyContext = { record, addresses, call: this.#call, telemetry };
    this.#reply = stream
      ? new StreamReply({ ...replyContext, chunkObject: chunkObjects[record.identity.request.endpoint] })
      : new JsonReply({ ...replyContext, status });
    this.#call.answer({
      responseHeaders: {
        response: {
          headerMutation: {
            setHeaders: [setHeader('x-gw-receipt-id', receiptId)],
            removeHeaders: [...headers.keys()].filter((name) => !name.startsWith(':') && !shown.has(name)),
          },
        },
      },
      modeOverride: {
        responseHeaderMode: headerMode.send,
        responseBodyMode: stream ? bodyMode.streamed : bodyMode.buffered,
      },
      dynamicMetadata: gwMetadata({ headers_done: true }),
    });
  }

  #responseBody(bytes: Buffer, end: boolean): void {
    if (this.#reply) this.#reply.chunk(bytes, end);
    else this.#call.answer(unchanged.responseBody);
  }

  #path(): string {
    return (this.#headers.get(':path') ?? '').split('?', 1)[0] ?? '';
  }

  /** Refuses the call before any provider is asked. */
  #refuse(error: ApiError): void {
    this.#call.answer(immediate(error, errorBody(error, this.#context.addresses), null));
  }
}
