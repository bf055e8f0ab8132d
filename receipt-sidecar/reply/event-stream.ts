/**
 * Rewrites a stream of completion chunks: the receipt rides on the last chunk that has choices, and on the usage chunk as
 * well if the client asked for one; on a chunk of its own if nothing waits when it is made. A client that asked for usage gets
 * the counts of the receipt at the end if the provider has sent none: clients rely on that chunk. Some providers give their
 * usage chunk choices that say nothing, or put the usage on a chunk with text. Where the provider reports energy in its
 * stream, the receipt is made at the end, since that may come behind the usage.
 *
 * Invariant: every chunk of the provider comes out once, in order, unchanged but for what is ours (`gw`,
 * `routing_trace`, `usage.gw`) and a usage that nobody asked for; a chunk that is there for such a usage alone is dropped with
 * all that stands on it, since clients fail at one without choices. Nothing else of the provider comes out, and no byte that
 * was not read as what it is here. Its comments and lines of other fields become empty comments, which keep connections
 * open. Behind `[DONE]` and behind an error there is nothing. The receipt is asked for exactly once.
 */
import { type ApiError, apiError, errorBody } from '@gw/contract/errors';
import { ChoiceEnds } from '../api/choice-ends.ts';
import { type Chunk, isError, type Origin, originOf } from '../api/chunk.ts';
import { KnownDeltas } from '../api/known-deltas.ts';
import { ownChunk, type StreamReceipt, usageOf } from '../api/own-chunk.ts';
import { ReplyCounts } from '../api/usage.ts';
import { EventReader } from '../wire/events.ts';
import { type Additions, parseObject, withoutForgery, withoutUsage } from '../wire/json-body.ts';
import { Outbox } from '../wire/outgoing.ts';
import { dataEvent, doneEvent, isPlain, keepAlive } from '../wire/write-events.ts';
import { HeldChunks } from './held-chunks.ts';
import type { EventStreamOptions, StreamFacts } from './stream-options.ts';

/** An event larger than this is not a completion chunk: pictures in base64 are. */
const maxEventBytes = 4 * 1024 * 1024;
/**
 * Commas, lists and objects: reading an event of this many takes some 10 ms. A chunk with all logprobs has a few
 * hundred.
 */
const maxEventParts = 30_000;
const unreadable = apiError('upstream_invalid_response', {
  message: 'The model provider sent an event that could not be read.',
});
const failedMidway = apiError('upstream_error', { message: 'The model provider failed in the middle of the stream.' });

/** One stream. What `receipt` throws is thrown on; whatever the provider sends ends in an error event at worst. */
export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #reader = new EventReader({
    known: (bytes) => this.#isKnown(bytes),
    event: (data, isError, bytes) => this.#closed(() => this.#event(data, isError, bytes)),
    comment: (line) => this.#closed(() => this.#options.energyReader?.takeComment(line)),
  });
  readonly #held = new HeldChunks();
  readonly #ends: ChoiceEnds;
  readonly #said = new ReplyCounts();
  readonly #deltas: KnownDeltas;
  #origin: Origin | null = null;
  #finished = false;
  #hasEnded = false;
  /** What has to be told of the usage at the end; null if nothing has. */
  #untold: StreamReceipt | null = null;
  #sawUsage = false;
  /** Whether text came that the receipt does not count. */
  wentOn = false;
  /** What the last event was: nothing more goes out. */
  #over: 'done' | 'failed' | null = null;
  readonly #out = new Outbox();

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#ends = new ChoiceEnds(options.expectedChoices);
    this.#deltas = new KnownDeltas(this.#said, this.#ends);
  }

  /** Where what has to wait for more bytes began, in the provider's stream; null if nothing has. */
  get waitsFrom(): number | null {
    return this.#held.at ?? (this.#reader.size > 0 ? this.#reader.unfinishedAt : null);
  }

  /** Whether a whole chunk waits. */
  get holdsChunk(): boolean {
    return !this.#held.isEmpty;
  }

  /** Whether what waits is worth a longer wait: for usage, energy, or a surer sign of the end. */
  get holding(): boolean {
    if (this.#held.isEmpty || this.#ends.isRefuted) return false;
    const { claim, isStale } = this.#said;
    const isCounted = claim !== null && !isStale && this.#options.energyReader?.comesLate !== true;
    return !this.#ends.isCredible || !isCounted;
  }

  get facts(): StreamFacts {
    const telemetry = this.#options.energyReader?.said ?? null;
    return { said: this.#said, telemetry, isWritten: this.#ends.isCredible, failed: this.#over === 'failed' };
  }

  /** Whether the last event that the client gets has been made: `[DONE]`, or an error. */
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
    this.#reader.sawOther = false;
    this.#reader.push(bytes);
    if (this.#reader.size > maxEventBytes) this.#fail(unreadable);
    // In front of a held chunk too: it says nothing that could come too early.
    const isQuiet = this.#out.isEmpty && this.#over === null;
    if (this.#reader.sawOther && isQuiet) this.#out.add([{ at: 0, bytes: keepAlive }]);
  }

  /** Ends the stream in order: nothing waits any more, and the receipt is made if it was not. */
  end(): void {
    this.#reader.end();
    this.#hasEnded = true;
    if (this.#over === null) this.#finishWhole();
  }

  /**
   * Lets go what is held, with a receipt from what was seen if that can be the whole; else the receipt comes when the
   * stream ends.
   */
  giveUpWaiting(): void {
    if (this.#held.isEmpty) return;
    if (this.#ends.isCredible) this.#finish();
    else this.#release();
  }

  /** Takes out what can go to the client, of all or of what began before a place in the provider's stream. */
  take(before = Number.POSITIVE_INFINITY): Buffer {
    return this.#out.take(before);
  }

  /** Sends in the order of the provider: nothing overtakes a held chunk. */
  #send(bytes: Buffer): void {
    const event = { at: this.#reader.eventAt, bytes };
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
      this.#fail(unreadable);
    }
  }

  /** Where anything waits or has ended, a delta of text may mean more. */
  #isKnown(bytes: Buffer): boolean {
    const isPlain = !this.#ends.hasBegun && !this.#finished && this.#held.isEmpty;
    if (!isPlain || !this.#deltas.isKnown(bytes)) return false;
    this.#send(bytes);
    return true;
  }

  #event(data: string, saysError: boolean, bytes: Buffer | null): void {
    if (data.startsWith('[DONE]') && data.trimEnd() === '[DONE]') return this.#done();
    const chunk = parseObject(data, maxEventParts);
    if (!chunk) this.#fail(unreadable);
    else if (saysError || isError(chunk)) this.#fail(this.#refusal(chunk) ?? failedMidway);
    else this.#chunk(bytes, data, chunk);
  }

  #done(): void {
    this.#finishWhole();
    this.#send(doneEvent);
    this.#over = 'done';
    this.#reader.stop();
  }

  /** Returns what `tooLong` says, but only before anything was generated. */
  #refusal(chunk: Chunk): ApiError | null {
    return this.#said.isEmpty ? this.#options.tooLong(chunk) : null;
  }

  #keepBounded(): void {
    if (this.#held.isTooMuch) this.giveUpWaiting();
  }

  #chunk(bytes: Buffer | null, data: string, chunk: Chunk): void {
    this.#origin ??= originOf(chunk);
    // Some providers count as they go: the last word counts, if it covers all of the text.
    this.#said.take(chunk);
    this.#options.energyReader?.takeObject(chunk);
    const choices = Array.isArray(chunk.choices) ? chunk.choices : [];
    const isBare = choices.length === 0 || (this.#ends.isAtEnd && this.#ends.sayNothing(choices));
    if (chunk.usage) this.#sawUsage = true;
    if (chunk.usage && isBare) return this.#usageChunk(data, chunk);
    if (this.#ends.take(choices)) this.#text();
    const shown = this.#options.wantsUsage ? { text: data, value: chunk } : withoutUsage(data, chunk);
    if (choices.length > 0 && this.#ends.isAtEnd && !this.#finished) {
      this.#held.addChoices({ at: this.#reader.eventAt, ...shown });
      return this.#keepBounded();
    }
    const clean = withoutForgery(shown.text, shown.value);
    if (bytes === null || clean !== data || !isPlain(data, bytes)) return this.#send(dataEvent(clean));
    if (this.#options.energyReader === null) this.#deltas.learn(bytes, data, chunk);
    this.#send(bytes);
  }

  /** What is held was not the end, and text waits for nothing in front of it. */
  #text(): void {
    this.#release();
    if (this.#finished) this.wentOn = true;
  }

  #usageChunk(data: string, chunk: Chunk): void {
    this.#ends.takeUsage();
    // The gateway asked for it, not the client.
    if (!this.#options.wantsUsage) return;
    // In front of the end, or behind the receipt.
    if (this.#finished || !this.#ends.hasBegun) return this.#send(dataEvent(withoutForgery(data, chunk)));
    this.#held.addUsage({ at: this.#reader.eventAt, text: data, value: chunk });
    this.#keepBounded();
  }

  /** Sends what is held, with the additions. */
  #release(additions: Additions = {}): void {
    this.#out.add(this.#held.release(additions));
  }

  #finish(): void {
    if (this.#finished) return this.#release();
    const additions = this.#receipt();
    if (!this.#held.isEmpty) this.#release(additions);
    else if (!this.#lacksUsage) this.#send(ownChunk(this.#origin, this.#options.chunkObject, additions));
  }

  get #lacksUsage(): boolean {
    return this.#options.wantsUsage && !this.#sawUsage && !this.wentOn && this.#untold?.counts != null;
  }

  /** The provider has come to its end. */
  #finishWhole(): void {
    this.#finish();
    const receipt = this.#untold;
    if (!receipt?.counts || !this.#lacksUsage) return;
    this.#untold = null;
    this.#send(ownChunk(this.#origin, this.#options.chunkObject, receipt, usageOf(receipt.counts)));
  }

  #fail(error: ApiError): void {
    this.#release();
    this.#over = 'failed';
    this.#reader.stop();
    if (!this.#finished) this.#receipt();
    this.#send(dataEvent(errorBody(error, this.#options.addresses)));
  }

  #receipt(): StreamReceipt {
    this.#finished = true;
    this.#untold = this.#options.receipt(this.facts);
    return this.#untold;
  }
}
