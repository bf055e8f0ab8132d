/**
 * Rewrites a stream of completion chunks: the receipt rides on the last chunk that has choices, or on the usage chunk if
 * the client asked for one, or on a chunk of its own if the stream ended without either. Where the provider reports energy
 * in its stream, the receipt is made at the end, since that may come behind the usage.
 *
 * Invariant: every event of the provider comes out once, in order, unchanged but for what is ours (`gw`,
 * `routing_trace`) and a usage chunk that nobody asked for. The receipt is asked for exactly once.
 */
import { type Addresses, type ApiError, apiError, errorBody } from '@gw/contract/errors';
import type { TelemetryResult } from '@gw/methodology/telemetry/reading';
import { dataEvent, EventSplitter, eventData } from './events.ts';
import { type Additions, addToObject, parseObject, withoutForgery } from './json-body.ts';
import type { ReplyTelemetry } from './telemetry.ts';
import { ReplyCounts, type SaidSoFar } from './usage.ts';

export interface StreamFacts {
  /** Its counts and its text so far. */
  readonly said: SaidSoFar;
  /** Energy that the provider reported, or the refusal of what it said. */
  readonly telemetry: TelemetryResult;
  /** Whether the provider itself said that it failed. */
  readonly failed: boolean;
}

export interface EventStreamOptions {
  readonly wantsUsage: boolean;
  /** How many choices the request asked for: the last one to finish carries the receipt. */
  readonly expectedChoices: number;
  /** `chat.completion.chunk` or `text_completion`, for a chunk of our own. */
  readonly chunkObject: string;
  readonly addresses: Addresses;
  /** Null where the provider reports no energy. */
  readonly telemetry: ReplyTelemetry | null;
  /** What a failure means that says the prompt is too long; null for any other. */
  readonly tooLong: (chunk: Readonly<Record<string, unknown>>) => ApiError | null;
  /** Makes the receipt, once, when everything that counts is known. */
  readonly receipt: (facts: StreamFacts) => Required<Additions>;
}

type Chunk = Record<string, unknown> & { choices?: unknown };
interface Held {
  readonly text: string;
  readonly chunk: Chunk;
}

/** An event larger than this is no completion chunk. */
const maxEventBytes = 16 * 1024 * 1024;
const unreadable = apiError('upstream_invalid_response', {
  message: 'The model provider sent an event that could not be read.',
});
const failedMidway = apiError('upstream_error', { message: 'The model provider failed in the middle of the stream.' });

export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #splitter = new EventSplitter();
  /** The chunk for the receipt; it waits for usage and energy. What comes behind it waits in `#behind`. */
  #held: Held | null = null;
  #behind: Buffer[] = [];
  readonly #finishedChoices = new Set<unknown>();
  readonly #said = new ReplyCounts();
  /** What a chunk of our own takes from the provider's, so that it fits into the stream. */
  #origin: { id?: unknown; created?: unknown; model?: unknown } = {};
  #failed = false;
  #finished = false;
  /** After an error of the provider nothing more goes out. */
  #closed = false;
  #out: Buffer[] = [];

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  /** Whether something has to wait for more bytes. */
  get waiting(): boolean {
    return this.#held !== null || this.#splitter.size > 0;
  }

  /** Whether only usage or energy is missing. */
  get holding(): boolean {
    return this.#held !== null && (this.#options.telemetry?.comesLate === true || this.#said.claim === null);
  }

  get facts(): StreamFacts {
    const telemetry = this.#options.telemetry?.said ?? null;
    return { said: this.#said, telemetry, failed: this.#failed };
  }

  /** Takes bytes; returns what can go out. Bytes of an unfinished event and of a held chunk come out later. */
  push(bytes: Buffer): Buffer {
    if (this.#closed) return Buffer.alloc(0);
    for (const event of this.#splitter.push(bytes)) this.#event(event);
    if (this.#splitter.size > maxEventBytes) this.#fail(unreadable);
    return this.#take();
  }

  /** The stream is over, in order: what was still waiting, and the receipt if it has not gone out. */
  end(): Buffer {
    const last = this.#splitter.end();
    // A provider may leave out the last blank line.
    if (last.length > 0) this.#event(Buffer.concat([last, Buffer.from('\n\n')]));
    this.#finish();
    return this.#take();
  }

  /** Usage or energy did not come in time: the held chunk goes out with a receipt from what was seen. */
  giveUpWaiting(): Buffer {
    if (this.#held) this.#finish();
    return this.#take();
  }

  #take(): Buffer {
    const out = this.#out.length === 1 ? (this.#out[0] as Buffer) : Buffer.concat(this.#out);
    this.#out = [];
    return out;
  }

  /** Sends in the order of the provider: nothing overtakes a held chunk. */
  #send(bytes: Buffer): void {
    (this.#held ? this.#behind : this.#out).push(bytes);
  }

  #event(bytes: Buffer): void {
    if (this.#closed) return;
    const event = bytes.toString('utf8');
    this.#options.telemetry?.takeComments(event);
    const data = eventData(event);
    if (data === null) return this.#send(bytes);
    if (data === '[DONE]') {
      this.#finish();
      return this.#send(bytes);
    }
    const chunk = parseObject(data);
    if (!chunk) this.#fail(unreadable);
    else if (isError(event, chunk)) this.#fail(this.#refusal(chunk) ?? failedMidway);
    else this.#chunk(bytes, data, chunk);
  }

  /** Only before anything was generated: behind that, no prompt was too long. */
  #refusal(chunk: Chunk): ApiError | null {
    return this.#said.isEmpty ? this.#options.tooLong(chunk) : null;
  }

  #chunk(bytes: Buffer, data: string, chunk: Chunk): void {
    if (this.#origin.id === undefined) this.#origin = { id: chunk.id, created: chunk.created, model: chunk.model };
    // Some providers count as they go: the last word counts, if it covers all of the text.
    this.#said.take(chunk);
    this.#options.telemetry?.takeObject(chunk);
    const choices = Array.isArray(chunk.choices) ? chunk.choices : [];
    if (choices.length === 0 && chunk.usage) return this.#usageChunk(data, chunk);
    const finishing = choices.filter(isFinished);
    for (const choice of finishing) this.#finishedChoices.add((choice as { index?: unknown }).index);
    if (choices.length > 0) this.#release();
    const last = finishing.length > 0 && this.#finishedChoices.size >= this.#options.expectedChoices;
    if (last && !this.#finished) {
      this.#held = { text: data, chunk };
      return;
    }
    const clean = withoutForgery(data, chunk);
    this.#send(clean === data ? bytes : dataEvent(clean));
  }

  #usageChunk(data: string, chunk: Chunk): void {
    // The gateway asked for it, not the client.
    if (!this.#options.wantsUsage) return;
    const last = this.#held !== null;
    this.#release();
    if (last) this.#held = { text: data, chunk };
    else this.#send(dataEvent(withoutForgery(data, chunk)));
  }

  /** Sends the held chunk as it is, and what waits behind it. */
  #release(additions: Additions = {}): void {
    if (!this.#held) return;
    const { text, chunk } = this.#held;
    this.#held = null;
    this.#out.push(dataEvent(addToObject(text, chunk, additions)), ...this.#behind);
    this.#behind = [];
  }

  #finish(): void {
    if (this.#finished || this.#closed) return this.#release();
    const additions = this.#receipt();
    if (this.#held) return this.#release(additions);
    const own = { ...this.#origin, object: this.#options.chunkObject, choices: [] };
    this.#send(dataEvent(addToObject(JSON.stringify(own), own, additions)));
  }

  #fail(error: ApiError): void {
    this.#release();
    this.#failed = true;
    this.#closed = true;
    this.#splitter.end();
    if (!this.#finished) this.#receipt();
    this.#send(dataEvent(errorBody(error, this.#options.addresses)));
  }

  #receipt(): Required<Additions> {
    this.#finished = true;
    return this.#options.receipt(this.facts);
  }
}

/** Providers wrap the news of a failure in several ways. */
const isError = (event: string, chunk: Chunk): boolean =>
  Boolean(chunk.error) || chunk.object === 'error' || chunk.type === 'error' || /^event:\s*error\s*$/m.test(event);

const text = (value: unknown): boolean => typeof value === 'string' && value !== '';

const isFinished = (choice: unknown): boolean => text((choice as { finish_reason?: unknown } | null)?.finish_reason);
