/**
 * A JSON reply of a provider, which Envoy has buffered whole, on its way to the client. A client that has asked for a stream gets it as one.
 *
 * Invariants: a completion is never refused because there is no room or time to read it here, except that one sent as a stream is
 * refused above 16 MiB (`mostStreamBytes`). Nothing of a completion reaches the client that was not read: where no thread could,
 * Envoy goes on without us, and its Lua filter cleans the body that it still has and adds the degraded receipt.
 */
import { type ApiError, apiError, errorHeaders } from '@gw/contract/errors';
import { defined } from '@gw/contract/internal/defined';
import { finishedHeader } from '@gw/contract/internal/finished-header';
import { returningFrom } from '../api/behind.ts';
import { shapeOf } from '../api/shapes.ts';
import type { JudgedReply } from '../attempts/attempt-outcome.ts';
import type { Recorded } from '../receipt/books.ts';
import type { ShownReceipt } from '../receipt/shown-receipt.ts';
import { answerAfter, finishedWith, setHeader } from '../wire/ext-proc.ts';
import { andThen } from '../wire/maybe-promise.ts';
import type { Overhead } from '../wire/overhead.ts';
import type { JobResult } from '../wire/threads/thread-pool.ts';
import { boundAnswer } from './bound-answer.ts';
import { EventStream } from './event-stream.ts';
import { type ReplyReading, withAdded } from './read-reply.ts';
import type { Reply, ReplyContext } from './reply-context.ts';
import { isForThread, type ReadReply } from './reply-reader.ts';
import { advised } from './retry-advice.ts';
import { withShown } from './shown-bytes.ts';

/** The events of a reply that is sent as a stream are read on the event loop: these take it some 100 ms. */
const mostStreamBytes = 16 * 1024 * 1024;

/** Tells the filter of the last resort what `finishedWith` tells the access log. */
const isFinished = setHeader(finishedHeader, '1');

export interface JsonReplyContext extends ReplyContext {
  readonly judged: JudgedReply;
  /** How often Envoy sent the request to a deployment. */
  readonly attempts: number;
  /** The fields that the gateway had added to the request. */
  readonly added: readonly string[];
  readonly readReply: ReadReply;
  readonly overhead: Overhead;
}

export class JsonReply implements Reply {
  readonly #context: JsonReplyContext;
  readonly seen = null;
  #isOver = false;
  #repliedAt = 0;

  constructor(context: JsonReplyContext) {
    this.#context = context;
  }

  /** Whether a body can take longer than Envoy usually waits. */
  isSlow(bytes: Buffer): boolean {
    return isForThread(bytes, this.#context.encoding);
  }

  chunk(bytes: Buffer): void {
    const { added, call, encoding, judged, readReply, record } = this.#context;
    const { identity, servedBy } = record;
    const { request, usageImpacts = false } = identity;
    // Later waiting is not the provider's time.
    this.#repliedAt = record.replied();
    const { fault, status } = judged;
    const provider = { ...record.providerNames, added };
    const telemetryShape = servedBy?.telemetry ?? null;
    const returning = returningFrom(request, servedBy);
    const facts = { status, fault, request, provider, telemetryShape, returning, encoding, usageImpacts };
    const read = andThen(readReply(record.accountId, bytes, facts), (outcome) => this.#conclude(outcome));
    if (read instanceof Promise) read.catch(call.fail);
  }

  #conclude(outcome: JobResult<ReplyReading>): void {
    const { call, record } = this.#context;
    // The client has left meanwhile, and it was written down as that.
    if (record.recorded) return;
    if (outcome.ok && outcome.value.ok) return this.#complete(outcome.value);
    if (outcome.ok && !outcome.value.ok && outcome.value.error) return this.#fail(outcome.value.error);
    const why = outcome.ok ? 'too many parts' : outcome.error;
    if (!this.#isOver) call.fail(new Error(`A large reply could not be read: ${why}.`));
  }

  #complete({ answerDigest, clean, isStream, said, telemetry }: Extract<ReplyReading, { readonly ok: true }>): void {
    if (isStream)
      return this.#completeStream(Buffer.from(clean.bytes.buffer, clean.bytes.byteOffset, clean.bytes.length));
    const { record, energyReader } = this.#context;
    const recorded = record.complete(said, telemetry ?? energyReader?.said ?? null, false, answerDigest);
    this.#answer('application/json', recorded, (shown) => withAdded(clean, { ...recorded, ...shown }));
  }

  /** The events are read as those of any stream, so that the receipt rides where it does there. */
  #completeStream(events: Buffer): void {
    if (events.length > mostStreamBytes) return this.#fail(apiError('upstream_invalid_response'));
    const { addresses, energyReader, record, room } = this.#context;
    const { request, requestId } = record.identity;
    const receipts: Recorded[] = [];
    const answer = boundAnswer(request);
    const stream = new EventStream({
      reader: defined(shapeOf(request.endpoint).reply.stream, 'A shape of streams').open(request, requestId),
      answer,
      addresses,
      energyReader,
      room,
      // They were counted where the reply was read.
      mostParts: Number.POSITIVE_INFINITY,
      refusalFor: () => null,
      receipt: ({ failed, said, telemetry }) => {
        const recorded = record.complete(said, telemetry, failed, answer?.bound() ?? null);
        receipts.push(recorded);
        return recorded;
      },
    });
    stream.push(events);
    stream.end();
    const made = defined(receipts[0], 'The receipt of a stream that has ended');
    if (stream.over === 'failed') return this.#answerError(apiError('upstream_error'), made);
    const bytes = stream.take();
    this.#answer('text/event-stream', made, (shown) => [withShown(bytes, made, shown)]);
  }

  /** Answers with the body, once the receipt is stored. */
  #answer(contentType: string, recorded: Recorded, bodyWith: (shown: ShownReceipt) => readonly Buffer[]): void {
    const { call, kept, overhead, record } = this.#context;
    const answer = (shown: ShownReceipt): void | Promise<void> => {
      if (this.#isOver) return;
      const body = bodyWith(shown);
      if (!kept) return handOut(body);
      kept.add(body);
      return kept.store(contentType, () => handOut(body));
    };
    const handOut = (body: readonly Buffer[]): void => {
      const length = body.reduce((sum, part) => sum + part.length, 0);
      const setHeaders = [
        setHeader('content-type', contentType),
        setHeader('content-length', String(length)),
        ...overhead.headers(this.#repliedAt),
        isFinished,
      ];
      call.answer(
        { responseBody: { response: { headerMutation: { setHeaders } } }, ...finishedWith(record.unsaved) },
        body,
      );
    };
    recorded.saved.then(answer).catch(call.fail);
  }

  #fail(failure: ApiError): void {
    const { attempts, judged, record } = this.#context;
    const error = advised(failure, judged, attempts);
    const end = error.code === 'upstream_invalid_response' ? 'unreadable' : 'error_reply';
    this.#answerError(error, record.breakOff('provider', null, end));
  }

  #answerError(error: ApiError, { saved }: Recorded): void {
    const { record, addresses, call, kept } = this.#context;
    kept?.free();
    const { request, requestId } = record.identity;
    const body = Buffer.from(shapeOf(request.endpoint).errorBody(error, addresses, requestId));
    const setHeaders = [
      setHeader(':status', String(error.status)),
      ...[...errorHeaders(error)].map(([name, value]) => setHeader(name, value)),
      setHeader('content-length', String(body.length)),
      isFinished,
    ];
    const response = { bodyMutation: { body }, headerMutation: { setHeaders } };
    answerAfter(saved, call, { responseBody: { response } }, record);
  }

  close(): void {
    this.#isOver = true;
  }
}
