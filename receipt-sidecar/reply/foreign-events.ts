/**
 * A provider's stream in another API than the client's: reads its events and writes them in the API of the client, for `EventStream`, which
 * reads them as those of any provider.
 *
 * Invariant: nothing of the provider comes out but what the translator has written, and the words of a failure. What cannot be read or
 * translated becomes an event that nobody can read, which ends the stream as an error.
 */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { ForeignStream } from '../api/behind.ts';
import type { ClientEvent } from '../api/port/translator.ts';
import { parseObject } from '../wire/json-body.ts';
import type { Room } from '../wire/room.ts';
import { dataEvent, keepAlive } from '../wire/write-events.ts';
import { BoundedEvents } from './bounded-events.ts';
import type { EnergyReader } from './energy-reader.ts';

export interface ForeignOptions {
  readonly foreign: ForeignStream;
  /** The event that ends a stream of the client's API in order. */
  readonly endEvent: Buffer;
  readonly energyReader: EnergyReader | null;
  readonly room: Room;
  readonly mostParts: number;
}

const unreadable = Buffer.from('data: ?\n\n');

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export class ForeignEvents {
  readonly #options: ForeignOptions;
  readonly #events: BoundedEvents;
  #out: Buffer[] = [];
  #isOver = false;

  constructor(options: ForeignOptions) {
    this.#options = options;
    this.#events = new BoundedEvents(options.room, {
      known: (bytes, name) => this.#isKnown(bytes, name),
      event: (data, name, bytes) => this.#event(data, name, bytes),
      isWhole: (data) => parseObject(data, options.mostParts) !== null,
      comment: (line) => options.energyReader?.takeComment(line),
    });
  }

  /** Takes bytes of the provider in, and returns those for the client. */
  push(bytes: Buffer): Buffer {
    if (!this.#events.push(bytes)) this.#last(unreadable);
    if (this.#events.sawOther && this.#out.length === 0 && !this.#isOver) return keepAlive;
    return this.#taken();
  }

  /** The provider sends nothing more. Returns the rest for the client. */
  end(): Buffer {
    this.#events.end();
    const { reader } = this.#options.foreign;
    if (!this.#isOver && reader.isComplete) this.#ended();
    return this.#taken();
  }

  close(): void {
    this.#events.close();
  }

  #taken(): Buffer {
    const out = this.#out;
    this.#out = [];
    return out.length === 1 && out[0] ? out[0] : Buffer.concat(out);
  }

  /** Most of a stream are pieces of text, so these cost the least. */
  #isKnown(bytes: Buffer, name: string | null): boolean {
    const { reader, translator } = this.#options.foreign;
    const known = this.#isOver || reader.hasBegunToEnd ? null : reader.takeKnown(bytes, name);
    if (known === null) return false;
    this.#write(translator.takeText(known.like, bytes.toString('latin1', known.from, known.end)));
    return true;
  }

  #event(data: string, name: string | null, bytes: Buffer | null): void {
    if (this.#isOver) return;
    const { energyReader, foreign, mostParts } = this.#options;
    const { reader, translator } = foreign;
    const value = parseObject(data, mostParts);
    const isEnd = reader.isEnd(data);
    if (value === null) return isEnd ? this.#ended() : this.#last(unreadable);
    if (reader.isFailure(value, name)) return this.#last(dataEvent(JSON.stringify({ error: failureIn(value) })));
    energyReader?.takeObject(value);
    const { role, text, value: mended } = reader.take(data, value, name);
    this.#write(translator.take(text, mended));
    if (bytes !== null && energyReader === null && text === data) reader.learn(bytes, data, value, name);
    if (isEnd || role === 'last') this.#ended();
  }

  #write(events: readonly ClientEvent[]): void {
    if (this.#isOver) return;
    if (this.#options.foreign.translator.hasFailed) return this.#last(unreadable);
    for (const { name, text } of events) this.#out.push(dataEvent(text, name));
  }

  #ended(): void {
    this.#write(this.#options.foreign.translator.end());
    // Where the API has an event of its own for the end, the client's reader takes nothing behind the first one.
    if (!this.#isOver) this.#last(this.#options.endEvent);
  }

  #last(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#out.push(bytes);
    this.#events.close();
  }
}

/** Returns the words of a failure, wherever the API has them. */
function failureIn(event: JsonObject): JsonObject {
  if (isObject(event.error)) return event.error;
  const { response } = event;
  return isObject(response) && isObject(response.error) ? response.error : event;
}
