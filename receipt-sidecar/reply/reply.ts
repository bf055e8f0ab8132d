import type { IProcessingResponse } from '@gw/grpc/service';
import type { StreamReader } from '../api/port/shape.ts';
import { toldError } from '../api/provider-errors/provider-error.ts';
import { wordsOf } from '../api/provider-errors/provider-words.ts';
import { safetyError } from '../api/provider-errors/safety-error.ts';
import type { ShownReceipt } from '../receipt/shown-receipt.ts';
import { Decompressor } from '../wire/compressed.ts';
import { cutOff, finishedWith, gwMetadata, overWith, replaceChunk, unchanged, wait } from '../wire/ext-proc.ts';
import { Turns } from '../wire/turns.ts';
import { type BoundAnswer, boundAnswer } from './bound-answer.ts';
import { EventStream, maxEventParts } from './event-stream.ts';
import type { ForeignEvents } from './foreign-events.ts';
import type { Reply, ReplyContext } from './reply-context.ts';
import { withShown } from './shown-bytes.ts';
import type { StreamFacts } from './stream-options.ts';

/**
 * Half an event, or a chunk that waits for usage or energy, is held this long, ms: well within Envoy's patience with
 * one answer.
 */
const holdMs = 500;
/**
 * Then Envoy is asked for more patience, once, since the usage is worth waiting for; after this long it will not come.
 */
const usageHoldMs = 3000;
const patience = wait(usageHoldMs / 1000 + 1);
/**
 * How long a provider may go on behind the last event that its client gets, ms. Before that Envoy ends the reply in order where it has the
 * filter for it. By then that event has reached the client, which loses nothing by a broken connection, and the receipt is made.
 */
const endMs = 1000;
/** Above this many unanswered bytes Envoy could stop reading, so that pieces are answered before all of them came out. */
const holdBytes = 64 * 1024;

/**
 * A stream. Bytes are held back by not answering their message: Envoy keeps the originals meanwhile and sends them if
 * this process dies. So a message is answered once all that began in it has come out, with that: then no chunk is lost, and
 * none comes twice. Only half an event that was given up, and what waits here of more than `holdBytes`, could be lost.
 *
 * Invariant: while anything waits, a message has no answer and the timer runs, but for half an event above `holdBytes`.
 */
export class StreamReply implements Reply {
  readonly #context: ReplyContext;
  readonly #events: EventStream;
  readonly #bound: BoundAnswer | null;
  /** Set where the provider speaks another API; the bytes counted here are those that it has written. */
  readonly #foreign: ForeignEvents | null;
  /** Where in the provider's stream each message ends that has no answer yet, and the last one that has. */
  readonly #unanswered: number[] = [];
  /** How many pieces of a translated stream the client has got. */
  #answers = 0;
  #answeredTo = 0;
  /** How many bytes of the provider were read. */
  #readTo = 0;
  /** Replacements for receipts that could not be stored. */
  readonly #swaps: (readonly [made: ShownReceipt, shown: ShownReceipt])[] = [];
  #done = false;
  #saved: Promise<void> | null = null;
  readonly #turns: Turns;
  readonly #decompressor: Decompressor | null;
  #isBroken = false;
  readonly #onOver: () => void;
  readonly #contentType: string;
  /** Whether the last that the client gets waits for being stored. */
  #isStoring = false;
  #timer: NodeJS.Timeout | undefined;
  #cut: NodeJS.Timeout | undefined;
  #patient = false;
  #providerEnded = false;

  /** `onOver`: called when the last that the client gets of the provider was read, perhaps more than once. */
  constructor(
    context: ReplyContext & {
      readonly reader: StreamReader;
      readonly foreign: ForeignEvents | null;
      readonly contentType: string;
      readonly onOver: () => void;
    },
  ) {
    this.#context = context;
    this.#onOver = context.onOver;
    this.#contentType = context.contentType;
    const { record, addresses, encoding, energyReader, reader } = context;
    const { request } = record.identity;
    this.#bound = boundAnswer(request);
    this.#decompressor = encoding && new Decompressor(encoding);
    this.#turns = new Turns((part, piece) => this.#read(part, piece), context.call.fail);
    this.#foreign = context.foreign;
    this.#events = new EventStream({
      reader,
      answer: this.#bound,
      addresses,
      energyReader,
      room: context.room,
      mostParts: maxEventParts,
      refusalFor: (event, isEmpty) => {
        const words = wordsOf(event);
        return isEmpty ? toldError(words, request, false) : safetyError(words, request, false);
      },
      receipt: (facts) => this.#receipt(facts),
    });
  }

  get seen(): StreamFacts {
    return this.#events.facts;
  }

  chunk(bytes: Buffer, end: boolean): void {
    if (!this.#decompressor) return this.#turns.add({ bytes, end });
    const read = (plain: Buffer | null): void => {
      this.#isBroken = plain === null;
      this.#turns.add({ bytes: plain ?? Buffer.alloc(0), end });
    };
    this.#decompressor.take(bytes).then(read).catch(this.#context.call.fail);
  }

  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#cut);
    this.#turns.stop();
    this.#decompressor?.close();
    this.#foreign?.close();
    this.#events.close();
    if (this.#events.wentOn) this.#context.record.wentOn();
  }

  /**
   * Reads a part. `piece` is the piece that ends with it, if any: each piece is a message of Envoy and has one answer.
   */
  #read(part: Buffer, piece: { readonly bytes: Buffer; readonly end: boolean } | null): void {
    if (this.#foreign === null) this.#push(part);
    else this.#push(this.#foreign.push(part));
    if (!piece) return;
    const isLast = piece.end || this.#isBroken;
    if (isLast && this.#foreign !== null) this.#push(this.#foreign.end());
    this.#unanswered.push(this.#readTo);
    if (piece.end) {
      this.#providerEnded = true;
      clearTimeout(this.#cut);
    }
    if (isLast) this.#events.end();
    // A compressed or translated piece is never the same as what the client gets.
    if (!this.#waits) this.#answerPieces(this.#decompressor || this.#foreign ? null : piece.bytes);
  }

  #push(bytes: Buffer): void {
    this.#events.push(bytes);
    if (this.#events.over !== null) this.#onOver();
    this.#readTo += bytes.length;
  }

  /** Whether no message may be answered, because a store is being waited for. */
  get #waits(): boolean {
    return this.#saved !== null || this.#isStoring;
  }

  /** Answers the messages of which nothing waits. `last`: the bytes of the last one, if they are known. */
  #answerPieces(last: Buffer | null): void {
    const from = this.#events.waitsFrom;
    if (from === null) return this.#answerAll(last);
    const waiting = this.#unanswered.findIndex((end) => end > from);
    if (waiting > 0) {
      // The chunk that waits now is in another message.
      this.#stopWaiting();
      this.#answer(waiting);
    }
    if (this.#readTo - this.#answeredTo >= holdBytes) {
      if (!this.#events.holdsChunk) return this.#answerAll(null);
      this.#answer(this.#unanswered.length - 1);
    }
    this.#timer ??= setTimeout(() => this.#release(), holdMs);
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#patient = false;
  }

  /** Runs when the usage, or the rest of an event, did not come in time. */
  #release(): void {
    this.#timer = undefined;
    if (this.#events.holding && !this.#patient) {
      this.#patient = true;
      this.#context.call.answer(patience);
      this.#timer = setTimeout(() => this.#release(), usageHoldMs);
      return;
    }
    this.#events.giveUpWaiting();
    if (!this.#waits) this.#answerAll(null);
  }

  /** Answers all messages. `original`: the bytes of the last one, if they are known. */
  #answerAll(original: Buffer | null): void {
    this.#stopWaiting();
    this.#answer(this.#unanswered.length, original);
    const { over } = this.#events;
    if (over && !this.#providerEnded) this.#cut ??= setTimeout(() => this.#context.call.answer(cutOff), endMs);
  }

  /** Answers the first messages, the last of these with what began in them. */
  #answer(count: number, original: Buffer | null = null): void {
    const ends = this.#unanswered.splice(0, count);
    const end = ends.pop();
    if (end === undefined) return;
    const { call } = this.#context;
    for (const _ of ends) call.answer(replaceChunk(Buffer.alloc(0)));
    this.#answeredTo = end;
    const taken = this.#events.take(this.#providerEnded ? undefined : end);
    const bytes = this.#swaps.reduce((text, [made, shown]) => withShown(text, made, shown), taken);
    const isSame = ends.length === 0 && original?.equals(bytes);
    const response = isSame ? unchanged.responseBody : replaceChunk(bytes);
    if (!this.#done) return this.#pass(bytes, this.#translated(bytes, response));
    const isLeftOpen = this.#events.over !== null && !this.#providerEnded;
    const told = (isLeftOpen ? overWith : finishedWith)(this.#context.record.unsaved);
    this.#pass(bytes, { ...response, ...told });
  }

  /** Tells the Lua filter that these bytes are translated: those that come to it otherwise are not, because this process has died. */
  #translated(bytes: Buffer, response: IProcessingResponse): IProcessingResponse {
    if (this.#foreign === null || bytes.length === 0) return response;
    this.#answers += 1;
    return { ...response, dynamicMetadata: gwMetadata({ answers: this.#answers }) };
  }

  /** Answers with what the client gets next. The last of it goes out with the whole being stored, if it is to be. */
  #pass(bytes: Buffer, answer: IProcessingResponse): void {
    const { call, kept } = this.#context;
    kept?.add([bytes]);
    if (this.#events.over === 'failed') kept?.free();
    if (!kept?.isOpen || !this.#events.isWhole) return call.answer(answer);
    this.#isStoring = true;
    this.#turns.pause();
    kept
      .store(this.#contentType, () => call.answer(answer))
      .then(() => {
        this.#isStoring = false;
        this.#answerAll(null);
        this.#turns.resume();
      })
      .catch(call.fail);
  }

  #receipt({ said, telemetry, failed }: StreamFacts) {
    const recorded = this.#context.record.complete(said, telemetry, failed, this.#bound?.bound() ?? null);
    this.#done = true;
    // The receipt must be safe before the client can read its id; what comes behind it waits.
    this.#turns.pause();
    this.#saved = recorded.saved.then((shown) => this.#resume(recorded, shown)).catch(this.#context.call.fail);
    return recorded;
  }

  /**
   * Goes on after the receipt was stored. `shown` replaces `made`, in the bytes that wait, if that could not be stored.
   */
  #resume(made: ShownReceipt, shown: ShownReceipt): void {
    this.#saved = null;
    this.#swaps.push([made, shown]);
    this.#answerAll(null);
    if (!this.#isStoring) this.#turns.resume();
  }
}
