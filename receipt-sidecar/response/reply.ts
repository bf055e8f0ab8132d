/** The body of a provider's reply in pieces (SSE), on its way to the client. */
import type { Addresses } from '@gw/contract/errors';
import type { ProcessorCall } from '@gw/grpc/service';
import type { CallRecord } from '../call-record.ts';
import { cutOff, finished, replaceChunk, unchanged, wait } from '../messages.ts';
import type { ShownReceipt } from '../receipt.ts';
import { contextError } from './context-error.ts';
import type { EnergyReader } from './energy-reader.ts';
import { EventStream, type StreamFacts } from './event-stream.ts';
import { keepAlive } from './events.ts';
import { wordsOf } from './provider-words.ts';
import { Turns } from './turns.ts';

export interface ReplyContext {
  readonly record: CallRecord;
  readonly addresses: Addresses;
  readonly call: ProcessorCall;
  /** Null if the deployment that answered reports no energy. */
  readonly energyReader: EnergyReader | null;
}

export interface Reply {
  chunk(bytes: Buffer, end: boolean): void;
  /** What a stream has shown so far; null if nothing can be counted. */
  readonly seen: StreamFacts | null;
  /** Ends the reading, because the call is over. */
  close(): void;
}

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
 * How long a provider may go on behind the last event that its client gets, ms. By then an error event has reached the
 * client, which loses nothing by a broken connection. Behind `[DONE]` it is given time to end in order.
 */
const endMs = { failed: 1000, done: 30_000 } as const;
/** Above this many unanswered bytes Envoy could stop reading, so that whole events go out. */
const holdBytes = 64 * 1024;

/**
 * A stream. Bytes are held back by not answering their message: Envoy keeps the originals meanwhile and sends them if
 * this process dies, so a held chunk is never lost.
 */
export class StreamReply implements Reply {
  readonly #context: ReplyContext;
  readonly #events: EventStream;
  /** How many messages have no answer yet, and how many bytes they have. */
  #unanswered = 0;
  #unansweredBytes = 0;
  #ready: Buffer[] = [];
  #done = false;
  #saved: Promise<void> | null = null;
  readonly #turns: Turns;
  #timer: NodeJS.Timeout | undefined;
  #cut: NodeJS.Timeout | undefined;
  #patient = false;
  #providerEnded = false;

  constructor(context: ReplyContext & { readonly chunkObject: string }) {
    this.#context = context;
    const { record, addresses, chunkObject, energyReader } = context;
    this.#turns = new Turns((part, piece) => this.#read(part, piece), context.call.fail);
    this.#events = new EventStream({
      wantsUsage: record.identity.request.wantsUsage,
      expectedChoices: record.identity.request.choices,
      chunkObject,
      addresses,
      energyReader,
      tooLong: (chunk) => contextError(wordsOf(chunk), record.identity.request, false),
      receipt: (facts) => this.#receipt(facts),
    });
  }

  get seen(): StreamFacts {
    return this.#events.facts;
  }

  /** Whether the last that its client gets of the provider has come. */
  get isOver(): boolean {
    return this.#events.over !== null;
  }

  chunk(bytes: Buffer, end: boolean): void {
    this.#turns.add({ bytes, end });
  }

  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#cut);
    this.#turns.stop();
    if (this.#events.wentOn) this.#context.record.wentOn();
  }

  /**
   * Reads a part. `piece` is the piece that ends with it, if any: each piece is a message of Envoy and has one answer.
   */
  #read(part: Buffer, piece: { readonly bytes: Buffer; readonly end: boolean } | null): void {
    const out = this.#events.push(part);
    if (out.length > 0) this.#ready.push(out);
    if (!piece) return;
    const { bytes, end } = piece;
    this.#unanswered += 1;
    this.#unansweredBytes += bytes.length;
    if (end) {
      this.#providerEnded = true;
      clearTimeout(this.#cut);
      this.#ready.push(this.#events.end());
    }
    if (this.#saved) return;
    if (!end && this.#events.waiting && this.#unansweredBytes < holdBytes) {
      // Not a sign of life alone: with one of these now and then the wait would never end.
      if (this.#ready.some((each) => each !== keepAlive)) this.#answerFormer(bytes);
      this.#timer ??= setTimeout(() => this.#release(), holdMs);
      return;
    }
    this.#flush(bytes);
  }

  /** Sends what came out while this last piece waits, with the answers to those before it; the wait begins anew. */
  #answerFormer(last: Buffer): void {
    if (this.#unanswered < 2) return;
    this.#unanswered -= 1;
    this.#flush(null);
    this.#unanswered = 1;
    this.#unansweredBytes = last.length;
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
    const out = this.#events.giveUpWaiting();
    if (out.length > 0) this.#ready.push(out);
    if (!this.#saved) this.#flush(null);
  }

  /** Answers all messages; the bytes ride on the last answer. `original`: the only message's bytes, if it is one. */
  #flush(original: Buffer | null): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { call } = this.#context;
    const bytes = this.#ready.length === 1 ? (this.#ready[0] as Buffer) : Buffer.concat(this.#ready);
    this.#ready = [];
    for (; this.#unanswered > 1; this.#unanswered--) call.answer(replaceChunk(Buffer.alloc(0)));
    if (this.#unanswered === 0) {
      if (bytes.length > 0) this.#ready.push(bytes);
      return;
    }
    this.#unanswered = 0;
    this.#unansweredBytes = 0;
    const response = original?.equals(bytes) ? unchanged.responseBody : replaceChunk(bytes);
    call.answer(this.#done ? { ...response, ...finished } : response);
    const { over } = this.#events;
    if (over && !this.#providerEnded) this.#cut ??= setTimeout(() => call.answer(cutOff), endMs[over]);
  }

  #receipt({ said, telemetry, failed }: StreamFacts) {
    const recorded = this.#context.record.complete(said, telemetry, failed);
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
    if (made.gw !== shown.gw) {
      const pieces = replaced(Buffer.concat(this.#ready), made.gw, shown.gw);
      this.#ready = replaced(Buffer.concat(pieces), made.usageGw, shown.usageGw);
    }
    this.#flush(null);
    this.#turns.resume();
  }
}

/** Returns the bytes with `shown` wherever `made` stands, in pieces. Both hold the receipt's id, so the provider's words do not. */
function replaced(bytes: Buffer, made: string, shown: string): Buffer[] {
  const pieces: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(made); at !== -1; at = bytes.indexOf(made, from)) {
    pieces.push(bytes.subarray(from, at), Buffer.from(shown));
    from = at + Buffer.byteLength(made);
  }
  return [...pieces, bytes.subarray(from)];
}
