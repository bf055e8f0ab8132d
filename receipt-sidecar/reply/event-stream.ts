/**
 * Rewrites a provider's stream of events. What an event means is said by the reader of its API (`api/port/shape.ts`); here
 * the receipt is made once, and rides on the event that ends the answer, and on the usage event as well if the client asked
 * for one; on an event of the gateway's own if nothing waits when it is made. A client that asked for usage gets the counts
 * of the receipt at the end if the provider has sent none: clients rely on them. Where the provider reports energy in its
 * stream, the receipt is made at the end, since the energy may come behind the usage.
 *
 * Invariant: every event of the provider comes out once, in order, unchanged but for the fields that are ours (`gw`,
 * `routing_trace`, `usage.gw`) and what the API's reader drops or adds. Nothing else of the provider comes out, and no byte that was
 * not read as what it is here. Its comments, lines of other fields and events that say nothing become empty comments, which keep
 * connections open.
 * Behind the end of the stream and behind an error there is nothing. The receipt is asked for exactly once.
 */
import { type ApiError, errorBody } from '@gw/contract/errors';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { StreamReader, Written } from '../api/port/shape.ts';
import { type Additions, parseObject } from '../wire/json-body.ts';
import { Outbox } from '../wire/outgoing.ts';
import { unforged } from '../wire/unforged.ts';
import { dataEvent, isPlain, keepAlive, named } from '../wire/write-events.ts';
import { BoundedEvents } from './bounded-events.ts';
import { type Carrier, HeldChunks } from './held-chunks.ts';
import {
  type EventStreamOptions,
  failureOf,
  type StreamFacts,
  type StreamReceipt,
  streamErrors,
} from './stream-options.ts';

/** Commas, lists and objects: reading an event of this many takes some 30 ms. One with all logprobs has a few hundred. */
export const maxEventParts = 100_000;

/** One stream. Errors thrown by `receipt` are thrown on; whatever the provider sends ends in an error event at worst. */
export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #events: BoundedEvents;
  readonly #api: StreamReader;
  readonly #held: HeldChunks;
  #finished = false;
  #hasEnded = false;
  /** The receipt whose counts have not been sent; null if there is none. */
  #untold: StreamReceipt | null = null;
  /** Whether text came that the receipt does not count. */
  wentOn = false;
  /** Set with the last event, after which nothing is sent. */
  #over: 'done' | 'failed' | null = null;
  readonly #out = new Outbox();

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#api = options.reader;
    this.#events = new BoundedEvents(options.room, {
      known: (bytes, name) => this.#isKnown(bytes, name),
      event: (data, name, bytes) => this.#closed(() => this.#event(data, name, bytes)),
      isWhole: (data) => parseObject(data, options.mostParts) !== null,
      comment: (line) => this.#closed(() => options.energyReader?.takeComment(line)),
    });
    this.#held = new HeldChunks((text, value, additions) => options.reader.add(text, value, additions));
  }

  /** Where what has to wait for more bytes began, in the provider's stream; null if nothing has. */
  get waitsFrom(): number | null {
    return this.#held.at ?? this.#events.unfinishedAt;
  }

  /** Whether a whole chunk waits. */
  get holdsChunk(): boolean {
    return !this.#held.isEmpty;
  }

  /** Whether what waits is worth a longer wait: for usage, energy, or a surer sign of the end. */
  get holding(): boolean {
    if (this.#held.isEmpty || this.#api.isRefuted) return false;
    const { claim, isStale } = this.#api.said;
    const isCounted = claim !== null && !isStale && this.#options.energyReader?.comesLate !== true;
    return !this.#api.isWritten || !isCounted;
  }

  get facts(): StreamFacts {
    const telemetry = this.#options.energyReader?.said ?? null;
    return { said: this.#api.said, telemetry, isWritten: this.#api.isWritten, failed: this.#over === 'failed' };
  }

  /** Whether the last event that the client gets has been made: the end of the stream, or an error. */
  get over(): 'done' | 'failed' | null {
    return this.#over;
  }

  /** Whether the client has got all that it gets of a stream that came to its end in order. */
  get isWhole(): boolean {
    return (
      (this.#over === 'done' || (this.#over === null && this.#hasEnded)) && this.#held.isEmpty && this.#out.isEmpty
    );
  }

  /** Takes bytes in. */
  push(bytes: Buffer): void {
    if (!this.#events.push(bytes)) this.#fail(streamErrors.unreadable);
    // In front of a held chunk too: it says nothing that could come too early.
    const isQuiet = this.#out.isEmpty && this.#over === null;
    if (this.#events.sawOther && isQuiet) this.#out.add([{ at: 0, bytes: keepAlive }]);
  }

  /** Gives back what the stream takes up, because nothing more is read. */
  close(): void {
    this.#events.close();
  }

  /**
   * Ends the stream: nothing waits any more, and the receipt is made if it was not. Without the end event, or the end of each answer, it is
   * not known whether that was all.
   */
  end(): void {
    this.#events.end();
    this.#hasEnded = true;
    if (this.#over !== null) return;
    if (this.#api.isComplete) this.#ended(this.#api.needsEnd ? this.#api.endEvent : null);
    else this.#fail(this.#api.isBlank ? streamErrors.saidNothing : streamErrors.endedEarly);
  }

  /**
   * Lets go what is held, with a receipt from what was seen if that can be the whole; else the receipt comes when the
   * stream ends.
   */
  giveUpWaiting(): void {
    if (this.#held.isEmpty) return;
    if (this.#api.isWritten) this.#finish();
    else this.#release();
  }

  /** Takes out what can go to the client, of all or of what began before a place in the provider's stream. */
  take(before = Number.POSITIVE_INFINITY): Buffer {
    return this.#out.take(before);
  }

  /** Sends in the order of the provider: nothing overtakes a held chunk. */
  #send(bytes: Buffer): void {
    const event = { at: this.#events.eventAt, bytes };
    if (this.#held.isEmpty) return this.#out.add([event]);
    this.#held.add(event);
    this.#keepBounded();
  }

  /**
   * Fails closed: were what the provider says able to make the reading fail as a whole, Envoy would let the rest of the
   * stream pass as it is. A receipt that cannot be made is no fault of the provider's words.
   */
  #closed(read: () => void): void {
    const wasFinished = this.#finished;
    try {
      read();
    } catch (error) {
      if (this.#finished !== wasFinished) throw error;
      this.#fail(streamErrors.unreadable);
    }
  }

  /** Where anything waits or has ended, text may mean more. */
  #isKnown(bytes: Buffer, name: string | null): boolean {
    if (this.#api.hasBegunToEnd || this.#finished || !this.#held.isEmpty) return false;
    const known = this.#api.takeKnown(bytes, name);
    if (known === null) return false;
    this.#options.answer?.takeLetters(known.like, bytes, known.from, known.end);
    this.#send(named(bytes, this.#api.nameOf(null, name)));
    return true;
  }

  #event(data: string, name: string | null, bytes: Buffer | null): void {
    if (this.#api.isEnd(data)) return this.#ended(this.#api.endEvent);
    const value = parseObject(data, this.#options.mostParts);
    if (!value) this.#fail(streamErrors.unreadable);
    else if (this.#api.isFailure(value, name))
      this.#fail(this.#options.refusalFor(value, this.#api.isEmpty) ?? failureOf(value), { text: data, value });
    else this.#take(bytes, data, value, name);
  }

  /** `last` is the event behind which the provider says nothing more; null if it has gone out. */
  #ended(last: Buffer | null): void {
    if (this.#api.isBlank) return this.#fail(streamErrors.saidNothing);
    this.#finishWhole();
    if (last) this.#send(last);
    this.#over = 'done';
    this.#events.close();
  }

  #keepBounded(): void {
    if (this.#held.isTooMuch) this.giveUpWaiting();
  }

  #take(bytes: Buffer | null, data: string, value: JsonObject, name: string | null): void {
    const taken = this.#api.take(data, value, name);
    this.#options.energyReader?.takeObject(value);
    if (taken.hasText) this.#text();
    if (taken.role === 'dropped') return;
    const event = unforged(taken);
    if (!this.#finished) this.#options.answer?.take(event.value, name);
    switch (taken.role) {
      case 'usage':
        // It goes on if it comes in front of the end, or behind the receipt.
        if (this.#finished || !this.#api.hasBegunToEnd) return this.#pass(null, data, event, name);
        this.#held.addUsage(this.#carrier(event, name));
        return this.#keepBounded();
      case 'carrier':
      case 'last':
        if (this.#finished) break;
        this.#held.addEnd(this.#carrier(event, name));
        return taken.role === 'last' ? this.#ended(null) : this.#keepBounded();
    }
    this.#pass(bytes, data, event, name);
    if (taken.role === 'last') this.#ended(null);
  }

  /** Sends an event, by its own bytes if they say `data` and nothing of it has to go. */
  #pass(bytes: Buffer | null, data: string, { text, value }: Written, name: string | null): void {
    if (bytes === null || text !== data || !isPlain(data, bytes))
      return this.#send(dataEvent(text, this.#api.nameOf(value, name)));
    if (this.#options.energyReader === null) this.#api.learn(bytes, data, value, name);
    this.#send(named(bytes, this.#api.nameOf(value, name)));
  }

  #carrier({ text, value }: Written, name: string | null): Carrier {
    return { at: this.#events.eventAt, name: this.#api.nameOf(value, name), text, value };
  }

  /** The held events were not the end, and text waits for nothing in front of it. */
  #text(): void {
    this.#release();
    if (this.#finished) this.wentOn = true;
  }

  /** Sends what is held, with the additions. */
  #release(additions: Additions = {}): void {
    this.#out.add(this.#held.release(additions));
  }

  #finish(): void {
    if (this.#finished) return this.#release();
    const additions = this.#receipt();
    if (!this.#held.isEmpty) this.#release(additions);
    else if (!this.#lacksUsage) this.#send(this.#api.ownEvent(additions, null));
  }

  get #lacksUsage(): boolean {
    return this.#api.lacksUsage && !this.wentOn && this.#untold?.counts != null;
  }

  /** The provider has come to its end. */
  #finishWhole(): void {
    this.#finish();
    const receipt = this.#untold;
    if (!receipt?.counts || !this.#lacksUsage) return;
    this.#untold = null;
    this.#send(this.#api.ownEvent(receipt, receipt.counts));
  }

  /** `event`: the one by which the provider says that it failed. */
  #fail(error: ApiError, event: Written | null = null): void {
    this.#release();
    this.#over = 'failed';
    this.close();
    const additions = this.#finished ? {} : this.#receipt();
    this.#send(this.#api.errorEvent(error, errorBody(error, this.#options.addresses), event, additions));
  }

  #receipt(): StreamReceipt {
    this.#finished = true;
    this.#untold = this.#options.receipt(this.facts);
    return this.#untold;
  }
}
