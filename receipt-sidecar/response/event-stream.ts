/**
 * Rewrites a stream of completion chunks: the receipt rides on the last chunk that has choices, or on the usage chunk if
 * the client asked for one, or on a chunk of its own if the stream ended without either.
 *
 * Invariant: every event of the provider comes out once, in order, unchanged but for what is ours (`gw`,
 * `routing_trace`) and a usage chunk that nobody asked for. The receipt is asked for exactly once.
 */
import { type Addresses, type ApiError, apiError, errorBody } from '@gw/contract/errors';
import type { Usage } from '../receipt.ts';
import { dataEvent, eventData, splitEvents } from './events.ts';
import { type Additions, addToObject, parseObject, withoutForgery } from './json-body.ts';
import { readUsage } from './usage.ts';

export interface StreamFacts {
  /** What the provider reported, or null. */
  readonly usage: Usage | null;
  /** Chunks that carried content: an estimate of the tokens where nothing was reported. */
  readonly contentEvents: number;
  /** Whether the provider itself said that it failed. */
  readonly failed: boolean;
}

export interface EventStreamOptions {
  readonly wantsUsage: boolean;
  /** `chat.completion.chunk` or `text_completion`, for a chunk of our own. */
  readonly chunkObject: string;
  readonly addresses: Addresses;
  /** Makes the receipt, once, when everything that counts is known. */
  readonly receipt: (facts: StreamFacts) => Required<Additions>;
}

type Chunk = Record<string, unknown> & { choices?: unknown };
interface Held {
  readonly text: string;
  readonly chunk: Chunk;
}

export class EventStream {
  readonly #options: EventStreamOptions;
  #partial: Buffer = Buffer.alloc(0);
  /** The chunk that may be the last one with choices; it waits for the usage. */
  #held: Held | null = null;
  #usage: Usage | null = null;
  #contentEvents = 0;
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
    return this.#held !== null || this.#partial.length > 0;
  }

  /** Whether the receipt has been asked for. */
  get finished(): boolean {
    return this.#finished;
  }

  get facts(): StreamFacts {
    return { usage: this.#usage, contentEvents: this.#contentEvents, failed: this.#failed };
  }

  /** Takes bytes; returns what can go out. Bytes of an unfinished event and of a held chunk come out later. */
  push(bytes: Buffer): Buffer {
    const { events, rest } = splitEvents(this.#partial.length > 0 ? Buffer.concat([this.#partial, bytes]) : bytes);
    this.#partial = rest;
    for (const event of events) this.#event(event);
    return this.#take();
  }

  /** The stream is over, in order: what was still waiting, and the receipt if it has not gone out. */
  end(): Buffer {
    const last = this.#partial;
    this.#partial = Buffer.alloc(0);
    // A provider may leave out the last blank line.
    if (last.length > 0) this.#event(Buffer.concat([last, Buffer.from('\n\n')]));
    this.#finish();
    return this.#take();
  }

  /** The usage did not come in time: the held chunk goes out with a receipt from what was seen. */
  giveUpWaiting(): Buffer {
    if (this.#held) this.#finish();
    return this.#take();
  }

  #take(): Buffer {
    const out = this.#out.length === 1 ? (this.#out[0] as Buffer) : Buffer.concat(this.#out);
    this.#out = [];
    return out;
  }

  #event(bytes: Buffer): void {
    if (this.#closed) return;
    const event = bytes.toString('utf8');
    const data = eventData(event);
    if (data === null) {
      this.#out.push(bytes);
      return;
    }
    if (data === '[DONE]') {
      this.#finish();
      this.#out.push(bytes);
      return;
    }
    const chunk = parseObject(data);
    if (!chunk)
      this.#fail(
        apiError('upstream_invalid_response', { message: 'The model provider sent an event that could not be read.' }),
      );
    else if (chunk.error)
      this.#fail(apiError('upstream_error', { message: 'The model provider failed in the middle of the stream.' }));
    else this.#chunk(bytes, data, chunk);
  }

  #chunk(bytes: Buffer, data: string, chunk: Chunk): void {
    if (this.#origin.id === undefined) this.#origin = { id: chunk.id, created: chunk.created, model: chunk.model };
    const usage = readUsage(chunk.usage);
    if (usage && !this.#finished) this.#usage = usage;
    const choices = Array.isArray(chunk.choices) ? chunk.choices : [];
    if (choices.length === 0 && chunk.usage) {
      this.#usageChunk(data, chunk);
      return;
    }
    if (choices.length > 0) {
      this.#release();
      if (choices.some(hasContent)) this.#contentEvents += 1;
      if (!this.#options.wantsUsage && !this.#finished && choices.some(isFinished)) {
        this.#held = { text: data, chunk };
        return;
      }
    }
    const clean = withoutForgery(data, chunk);
    this.#out.push(clean === data ? bytes : dataEvent(clean));
  }

  #usageChunk(data: string, chunk: Chunk): void {
    if (!this.#options.wantsUsage) {
      // The gateway asked for it, not the client.
      this.#finish();
      return;
    }
    const additions = this.#finished ? {} : this.#receipt();
    this.#out.push(dataEvent(addToObject(data, chunk, additions)));
  }

  /** Sends the held chunk as it is: another one with choices came after it. */
  #release(): void {
    if (!this.#held) return;
    const { text, chunk } = this.#held;
    this.#held = null;
    this.#out.push(dataEvent(withoutForgery(text, chunk)));
  }

  #finish(): void {
    if (this.#finished) {
      this.#release();
      return;
    }
    const additions = this.#receipt();
    const held = this.#held;
    this.#held = null;
    if (held) this.#out.push(dataEvent(addToObject(held.text, held.chunk, additions)));
    else if (!this.#closed) {
      const own = { ...this.#origin, object: this.#options.chunkObject, choices: [] };
      this.#out.push(dataEvent(addToObject(JSON.stringify(own), own, additions)));
    }
  }

  #fail(error: ApiError): void {
    this.#release();
    this.#failed = true;
    this.#closed = true;
    if (!this.#finished) this.#receipt();
    this.#out.push(dataEvent(errorBody(error, this.#options.addresses)));
  }

  #receipt(): Required<Additions> {
    this.#finished = true;
    return this.#options.receipt(this.facts);
  }
}

const text = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** Any generated token: text, reasoning, a refusal, a tool call. */
function hasContent(choice: unknown): boolean {
  const { delta, text: legacy } = (choice ?? {}) as { delta?: Record<string, unknown> | null; text?: unknown };
  if (text(legacy)) return true;
  if (!delta) return false;
  return (
    text(delta.content) ||
    text(delta.reasoning_content) ||
    text(delta.reasoning) ||
    text(delta.refusal) ||
    Array.isArray(delta.tool_calls)
  );
}

const isFinished = (choice: unknown): boolean => text((choice as { finish_reason?: unknown } | null)?.finish_reason);
