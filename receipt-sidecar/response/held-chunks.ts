/**
 * What waits for the usage and the energy of a stream: the last chunk with choices, what came behind it, and among that the
 * usage chunk if the client asked for one.
 *
 * Invariant: everything comes out once, in the order in which it was put in.
 */
import type { Chunk } from './chunk.ts';
import { dataEvent } from './events.ts';
import { type Additions, addToObject } from './json-body.ts';

/** A chunk that the receipt can ride on, as text and as the value of that text. */
export interface Carrier {
  readonly text: string;
  readonly value: Chunk;
}

/** What waits behind the first chunk is not worth keeping above this. */
const maxBytes = 1024 * 1024;

export class HeldChunks {
  #held: (Carrier | Buffer)[] = [];
  #bytes = 0;
  /** Where the usage chunk is that the receipt rides on; null if there is none. */
  #usageAt: number | null = null;

  get isEmpty(): boolean {
    return this.#held.length === 0;
  }

  /** Whether more waits than is worth keeping; a single chunk may be of any size. */
  get isTooMuch(): boolean {
    return this.#held.length > 1 && this.#bytes > maxBytes;
  }

  /** Adds a chunk that the receipt rides on. */
  addCarrier(carrier: Carrier): void {
    this.#held.push(carrier);
    this.#bytes += carrier.text.length;
  }

  /** Adds a usage chunk that the receipt rides on; of several only the last one carries it. */
  addUsage(carrier: Carrier): void {
    const at = this.#usageAt;
    if (at !== null) this.#held[at] = written(this.#held[at] as Carrier);
    this.#usageAt = this.#held.length;
    this.addCarrier(carrier);
  }

  /** Adds what nothing is added to. */
  add(bytes: Buffer): void {
    // A copy: a piece of a few bytes keeps the whole buffer that it came in.
    this.#held.push(Buffer.from(bytes));
    this.#bytes += bytes.length;
  }

  /** Takes everything out, as events, with the additions on those that carry them. */
  release(additions: Additions = {}): Buffer[] {
    const events = this.#held.map((each) => (Buffer.isBuffer(each) ? each : written(each, additions)));
    this.#held = [];
    this.#bytes = 0;
    this.#usageAt = null;
    return events;
  }
}

const written = ({ text, value }: Carrier, additions: Additions = {}): Buffer =>
  dataEvent(addToObject(text, value, additions));
