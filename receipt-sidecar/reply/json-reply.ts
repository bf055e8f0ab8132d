/**
 * A JSON reply of a provider, which Envoy has buffered whole, on its way to the client.
 *
 * Invariants: a completion is never refused because there is no room or time to read it here, and nothing of it reaches
 * the client that was not read: where no thread could, Envoy goes on without us, and its Lua filter cleans the body
 * that it still has and adds the degraded receipt.
 */
import { type ApiError, errorBody, errorHeaders } from '@gw/contract/errors';
import { finishedHeader } from '@gw/contract/internal/finished-header';
import type { JudgedReply } from '../attempts/attempt-outcome.ts';
import type { ShownReceipt } from '../receipt/receipt.ts';
import { answerAfter, finishedWith, setHeader } from '../wire/ext-proc.ts';
import { andThen } from '../wire/maybe-promise.ts';
import type { Overhead } from '../wire/overhead.ts';
import type { JobResult } from '../wire/threads/thread-pool.ts';
import { type ReplyReading, withAdded } from './read-reply.ts';
import type { Reply, ReplyContext } from './reply.ts';
import type { ReadReply } from './reply-reader.ts';
import { advised } from './retry-advice.ts';

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

  chunk(bytes: Buffer): void {
    const { added, call, judged, readReply, record } = this.#context;
    const { request } = record.identity;
    // Later waiting is not the provider's time.
    this.#repliedAt = record.replied();
    const { fault, status } = judged;
    const provider = { ...record.providerNames, added };
    const facts = { status, fault, request, provider, telemetryShape: record.telemetryShape };
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

  #complete({ clean, said, telemetry }: Extract<ReplyReading, { readonly ok: true }>): void {
    const { call, kept, overhead, record, energyReader } = this.#context;
    const recorded = record.complete(said, telemetry ?? energyReader?.said ?? null);
    const answer = (shown: ShownReceipt): void | Promise<void> => {
      if (this.#isOver) return;
      const body = withAdded(clean, { ...recorded, ...shown });
      if (!kept) return handOut(body);
      kept.add(body);
      return kept.store('application/json', () => handOut(body));
    };
    const handOut = (body: readonly Buffer[]): void => {
      const length = body.reduce((sum, part) => sum + part.length, 0);
      const setHeaders = [
        setHeader('content-type', 'application/json'),
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
    const { record, addresses, attempts, call, judged, kept } = this.#context;
    const error = advised(failure, judged, attempts);
    kept?.free();
    const body = Buffer.from(errorBody(error, addresses));
    const end = error.code === 'upstream_invalid_response' ? 'unreadable' : 'error_reply';
    const { saved } = record.breakOff('provider', null, end);
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
