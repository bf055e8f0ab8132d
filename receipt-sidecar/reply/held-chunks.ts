/**
 * What waits for the usage, the energy and the end of a stream: the last chunk with choices, what came behind it, and among
 * that the usage chunk if the client asked for one; or such a usage chunk alone, where fewer choices have finished than were
 * asked for. No text waits behind it.
 *
 * Invariant: everything comes out once, in the order in which it was put in.
 */
import type { Chunk } from '../api/chunk.ts';
import { type Additions, addToObject } from '../wire/json-body.ts';
import type { Outgoing } from '../wire/outgoing.ts';
import { dataEvent } from '../wire/write-events.ts';

/** A chunk that the receipt can ride on, as text and as the value of that text. */
export interface Carrier {
  /** As in Outgoing. */
  readonly at: number;
  readonly text: string;
  readonly value: Chunk;
}

/** What waits behind the first chunk is not worth keeping above this. */
const maxBytes = 1024 * 1024;

export class HeldChunks {
  #held: (Carrier | Outgoing)[] = [];
  /** Of what came behind the first. */
  #bytes = 0;
  /** Where the chunks are that the receipt rides on; null if there is none. */
  #choicesAt: number | null = null;
  #usageAt: number | null = null;

  get isEmpty(): boolean {
    return this.#held.length === 0;
  }

  /** Where the first of it began; null if there is none. */
  get at(): number | null {
    return this.#held[0]?.at ?? null;
  }

  /** Whether more waits than is worth keeping; the first chunk may be of any size. */
  get isTooMuch(): boolean {
    return this.#bytes > maxBytes;
  }

  /** Adds a chunk with choices that the receipt rides on; of several only the last one carries it. */
  addChoices(carrier: Carrier): void {
    this.#choicesAt = this.#replace(this.#choicesAt, carrier);
  }

  /** Adds a usage chunk that the receipt rides on; of several only the last one carries it. */
  addUsage(carrier: Carrier): void {
    this.#usageAt = this.#replace(this.#usageAt, carrier);
  }

  /** Adds what nothing is added to. */
  add({ at, bytes }: Outgoing): void {
    // A copy: a piece of a few bytes keeps the whole buffer that it came in.
    this.#push({ at, bytes: Buffer.from(bytes) }, bytes.length);
  }

  /** Adds a carrier, and nothing to the former one of its kind any more. Returns where it is. */
  #replace(former: number | null, carrier: Carrier): number {
    if (former !== null) this.#held[former] = written(this.#held[former] as Carrier);
    return this.#push(carrier, carrier.text.length);
  }

  #push(held: Carrier | Outgoing, bytes: number): number {
    if (!this.isEmpty) this.#bytes += bytes;
    return this.#held.push(held) - 1;
  }

  /** Takes everything out, as events, with the additions on those that carry them. */
  release(additions: Additions = {}): Outgoing[] {
    const events = this.#held.map((each) => ('bytes' in each ? each : written(each, additions)));
    this.#held = [];
    this.#bytes = 0;
    this.#choicesAt = null;
    this.#usageAt = null;
    return events;
  }
}

const written = ({ at, text, value }: Carrier, additions: Additions = {}): Outgoing => ({
  at,
  bytes: dataEvent(addToObject(text, value, additions)),
});
