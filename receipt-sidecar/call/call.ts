/**
 * One inference call as ext_proc shows it: request headers, request body, response headers, response body.
 *
 * Invariants: every message is answered; the cluster of a provider is named only in the last request answer, so a call
 * whose request phase fails reaches no provider; a call that reached one is recorded exactly once.
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import { idempotencyKeyHeader } from '@gw/contract/internal/idempotency-key';
import type { ProcessingRequest, Processor, ProcessorCall } from '@gw/grpc/service';
import { type Admission, type Admitted, admit } from '../admission/admission.ts';
import { errorBodyFor } from '../api/error-body.ts';
import { shapeAt } from '../api/shapes.ts';
import { attemptsOf } from '../attempts/attempt-requests.ts';
import { type AttemptWatch, watchAttempts } from '../attempts/watch-attempts.ts';
import type { Catalogue } from '../catalogue/snapshot.ts';
import { type Caller, projectOf, readCaller } from '../guards/caller.ts';
import { KeptReply } from '../guards/idempotency/kept-reply.ts';
import { type CallLimits, decidedBefore, showing } from '../guards/leased-limits.ts';
import type { Slot } from '../guards/slots/slots.ts';
import { CallRecord } from '../receipt/call-record.ts';
import { release } from '../receipt/settle-call.ts';
import { JsonReply } from '../reply/json-reply.ts';
import { openReply } from '../reply/open-reply.ts';
import type { Reply } from '../reply/reply-context.ts';
import { EnvoyPatience } from '../wire/envoy-patience.ts';
import {
  answerWith,
  attemptCount,
  bodyMode,
  bytesOf,
  type Headers,
  headerMode,
  immediate,
  pathOf,
  readHeaders,
  replay,
  requestIdOf,
  unchanged,
} from '../wire/ext-proc.ts';
import { forwardedBytes, refusedHeaders } from '../wire/headers.ts';
import { newReceiptId } from '../wire/receipt-id.ts';
import { inlineBytes } from '../wire/threads/body-threads.ts';
import { type JudgedAnswer, onceKnown } from './answer-known.ts';
import type { CallContext } from './call-context.ts';
import { Client } from './client.ts';
import { isStream, toClient, toProvider } from './handover.ts';
import { answerNotAsked, isNotAsked } from './not-asked.ts';
import { sendToCount, type TokenCount } from './token-count.ts';
import { answerUnread } from './unread-reply.ts';

/** One call. Errors of the gateway itself go to `call.fail`, after which Envoy goes on without this process. */
export class Call implements Processor {
  readonly #context: CallContext;
  #call: ProcessorCall;
  #headers: Headers = new Map();
  #caller: Caller | null = null;
  #limits: CallLimits = decidedBefore;
  #record: CallRecord | null = null;
  #reply: Reply | null = null;
  /** The slot of a stream that can be on its way to a provider. */
  #slot: Slot | null = null;
  #attempts: AttemptWatch | null = null;
  /** Set for a call whose prompt a provider counts. */
  #count: TokenCount | null = null;
  readonly #client = new Client();
  /** Set for a call with an idempotency key once it can be on its way to a provider. */
  #kept: KeptReply | null = null;
  readonly #patience: EnvoyPatience;

  constructor(context: CallContext, call: ProcessorCall) {
    this.#context = context;
    this.#call = call;
    this.#patience = new EnvoyPatience(call.answer);
  }

  message(request: ProcessingRequest): void {
    if (request.requestHeaders) this.#requestHeaders(request);
    else if (request.requestBody) this.#requestBody(bytesOf(request.requestBody.body), performance.now());
    else if (request.responseHeaders) this.#responseHeaders(request);
    else if (request.responseBody)
      this.#responseBody(bytesOf(request.responseBody.body), request.responseBody.endOfStream ?? false);
    else this.#call.answer(request.responseTrailers ? { responseTrailers: {} } : { requestTrailers: {} });
  }

  coming(): void {
    this.#patience.ask();
  }

  close(): void {
    this.#client.leave();
    this.#slot?.release();
    this.#kept?.free();
    const record = this.#record;
    this.#reply?.close();
    const end = () => this.#attempts?.end();
    if (!record || record.recorded) return end();
    const seen = this.#reply?.seen ?? null;
    const asked = this.#context.ends.ask(record.identity, (by) => record.endedBy(by, seen));
    asked.catch(this.#call.fail).finally(end);
  }

  #requestHeaders(request: ProcessingRequest): void {
    this.#headers = readHeaders(request.requestHeaders);
    this.#caller = readCaller(request);
    if (!this.#caller) return this.#refuse(apiError('internal_error'));
    this.#limits = this.#context.limitsOf(this.#caller.leased, this.#headers.get('content-length'));
    this.#call = this.#limits.shownBy(this.#call);
    const refused = refusedHeaders(this.#headers);
    if (refused) return this.#refuse(refused);
    if (request.requestHeaders?.endOfStream)
      return this.#refuse(apiError('invalid_json', { message: 'The body is empty; send a JSON object.' }));
    this.#call.answer({
      ...unchanged.requestHeaders,
      modeOverride: { requestBodyMode: bodyMode.buffered, responseHeaderMode: headerMode.send },
    });
  }

  /** The limits of a call come before its body. */
  #requestBody(bytes: Buffer, arrivedAt: number): void {
    this.#withRoom(() => this.#admit(bytes, arrivedAt));
  }

  #admit(bytes: Buffer, arrivedAt: number): void {
    const catalogue = this.#context.catalogue();
    const endpoint = shapeAt(pathOf(this.#headers))?.name;
    const caller = this.#caller;
    if (!endpoint || !caller) return this.#refuse(apiError('internal_error'));
    // Fail closed: without a catalogue nobody can say which models and regions there are. It comes soon after a start.
    if (!catalogue) return this.#refuse(apiError('overloaded'));
    if (bytes.length > inlineBytes) this.#patience.ask();
    const isAsked = this.#patience.arrived();
    const asked = {
      endpoint,
      bytes,
      caller,
      catalogue,
      requestId: requestIdOf(this.#headers),
      path: pathOf(this.#headers),
      arrivedAt,
      idempotencyKey: this.#headers.get(idempotencyKeyHeader) ?? null,
      isOpen: () => this.#client.isThere,
      onGone: (then: () => void) => this.#client.onGone(then),
    };
    const go = (admission: Admission) => this.#admitted(admission, caller, catalogue);
    const admission = admit(asked, this.#context);
    if (!(admission instanceof Promise)) return go(admission);
    if (!isAsked) this.#patience.during(admission, asked.isOpen);
    admission.then(go).catch(this.#call.fail);
  }

  #admitted(admission: Admission, caller: Caller, catalogue: Catalogue): void {
    // Until it is over, a replay takes up room on the way out.
    if (admission.outcome !== 'replayed') this.#client.forget();
    this.#call = showing(this.#call, admission.shown);
    if (admission.outcome === 'admitted') {
      this.#slot = admission.slot;
      if (this.#client.isThere) return this.#send(admission, caller, catalogue);
      release(admission);
    }
    if (!this.#client.isThere) return this.#slot?.release();
    if (admission.outcome === 'refused') this.#refuse(admission.error, admission.receiptId);
    else if (admission.outcome === 'replayed') this.#call.answer(replay(admission.reply), admission.reply.body);
    else if (admission.outcome === 'counted') this.#call.answer(answerWith(admission.reply));
    else if (admission.outcome === 'uncounted')
      this.#count = sendToCount(
        admission.sent,
        { caller, catalogue, headers: this.#headers, call: this.#call },
        this.#context,
      );
  }

  #send({ bodies, claim, request, reservation, route, tokens }: Admitted, caller: Caller, catalogue: Catalogue): void {
    const nowMs = reservation?.at ?? this.#context.now();
    const receiptId = reservation?.receiptId ?? newReceiptId(nowMs);
    this.#kept = claim && new KeptReply(claim, receiptId, this.#context.idempotencyMetrics);
    const identity = {
      receiptId,
      createdAt: new Date(nowMs).toISOString(),
      requestId: requestIdOf(this.#headers),
      request,
      route,
      project: projectOf(caller, request),
      usageImpacts: caller.usageImpacts,
    };
    this.#record = new CallRecord(identity, caller, catalogue, this.#context, { reservation, tokens });
    const standIn = this.#record.begin();
    const { endpoint } = request;
    const attempts = attemptsOf({ endpoint, route }, bodies, () => forwardedBytes(this.#headers), this.#context);
    this.#attempts = watchAttempts(this.#context, this.#record, this.#headers, attempts);
    const [headers, slot, isRerun] = [this.#headers, this.#slot?.id ?? null, this.#kept?.mayHaveRun ?? false];
    const outgoing = { ...identity, standIn, headers, timeouts: this.#context, attempts, slot, isRerun };
    this.#call.answer(toProvider(outgoing), attempts.body);
  }

  #responseHeaders(request: ProcessingRequest): void {
    if (this.#count) return this.#count.responseHeaders(request);
    const record = this.#record;
    if (!record) return this.#call.answer(unchanged.responseHeaders);
    const headers = readHeaders(request.responseHeaders);
    const stream = isStream(headers) && record.identity.request.stream;
    if (!stream) this.#slot?.release();
    const deployment = headers.get('x-gw-deployment') ?? null;
    const attempts = attemptCount(request, headers);
    const answered = { deployment, attempts, headers };
    const call = { record, watch: this.#attempts, fail: this.#call.fail };
    onceKnown(call, answered, (judged) => this.#answered(record, request, { ...answered, judged, stream }));
  }

  #answered(record: CallRecord, request: ProcessingRequest, answered: JudgedAnswer): void {
    const { attempts, headers, judged, stream } = answered;
    if (isNotAsked(headers)) {
      // Earlier attempts may have been sent.
      this.#kept?.free(attempts > 1);
      return answerNotAsked(record, this.#call, answered, this.#context);
    }
    const { addresses, readReply, room } = this.#context;
    const added = this.#attempts?.added ?? [];
    const reply = { record, call: this.#call, kept: this.#kept, headers, addresses, attempts, judged, added, room };
    if (answerUnread({ ...reply, isEmpty: request.responseHeaders?.endOfStream ?? false })) return;
    const overhead = this.#context.overhead.of(headers, attempts);
    // Before it is answered, so that a client that has seen the end gets its next stream.
    const onOver = () => this.#slot?.release();
    const { responseHeaders: message } = request;
    this.#reply = openReply({ ...reply, overhead, message, stream, readReply, onOver });
    const told = { isRerun: this.#kept?.mayHaveRun ?? false, stream, budgets: record.budgets, overhead };
    this.#call.answer(toClient(headers, record, told));
  }

  #responseBody(bytes: Buffer, end: boolean): void {
    if (this.#reply instanceof JsonReply && this.#reply.isSlow(bytes)) this.#patience.ask();
    this.#patience.arrived();
    if (this.#count) this.#count.responseBody(bytes);
    else if (this.#reply) this.#reply.chunk(bytes, end);
    else this.#call.answer(unchanged.responseBody);
    if (end) this.#slot?.release();
  }

  /** Refuses the call before any provider is asked. */
  #refuse(error: ApiError, receiptId: string | null = null): void {
    this.#withRoom(() => this.#answerError(error, receiptId));
  }

  #withRoom(go: () => void): void {
    const known = this.#limits.whenKnown((refusal) => {
      if (!this.#client.isThere) return;
      if (refusal === null) go();
      else this.#answerError(refusal, null);
    });
    known?.catch(this.#call.fail);
  }

  #answerError(error: ApiError, receiptId: string | null): void {
    this.#call.answer(immediate(error, errorBodyFor(this.#headers, error, this.#context.addresses), receiptId));
  }
}
