/**
 * Holds back the events that the receipt rides on until the usage, the energy and the end of a stream are known: the last
 * event that may carry it, what came behind that, and the usage event among it; or a usage event alone, where fewer answers
 * have ended than were asked for. No text waits behind it.
 *
 * Invariant: everything comes out once, in the order in which it was put in.
 */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { StreamReader } from '../api/port/shape.ts';
import type { Additions } from '../wire/json-body.ts';
import type { Outgoing } from '../wire/outgoing.ts';
import { dataEvent } from '../wire/write-events.ts';

/** An event that the receipt can ride on: its name, and its JSON as text and as the value of that text. */
export interface Carrier {
  /** As in Outgoing. */
  readonly at: number;
  readonly name: string | null;
  readonly text: string;
  readonly value: JsonObject;
}

/** The most bytes that are kept behind the first event. */
const maxBytes = 1024 * 1024;

export class HeldChunks {
  readonly #add: StreamReader['add'];
  #held: (Carrier | Outgoing)[] = [];
  /** The bytes behind the first event. */
  #bytes = 0;
  /** The indices of the events that the receipt rides on; null if there is none. */
  #endAt: number | null = null;
  #usageAt: number | null = null;

  /** `add` adds the receipt to the JSON of an event. */
  constructor(add: StreamReader['add']) {
    this.#add = add;
  }

  get isEmpty(): boolean {
    return this.#held.length === 0;
  }

  /** Where the first event began; null if there is none. */
  get at(): number | null {
    return this.#held[0]?.at ?? null;
  }

  /** Whether too much waits; the first event may be of any size. */
  get isTooMuch(): boolean {
    return this.#bytes > maxBytes;
  }

  /** Adds an event that the receipt rides on; of several only the last one carries it. */
  addEnd(carrier: Carrier): void {
    this.#endAt = this.#replace(this.#endAt, carrier);
  }

  /** Adds a usage event that the receipt rides on; of several only the last one carries it. */
  addUsage(carrier: Carrier): void {
    this.#usageAt = this.#replace(this.#usageAt, carrier);
  }

  /** Adds an event that does not carry the receipt. */
  add({ at, bytes }: Outgoing): void {
    // A copy: a piece of a few bytes keeps the whole buffer that it came in.
    this.#push({ at, bytes: Buffer.from(bytes) }, bytes.length);
  }

  /** Adds a carrier, and nothing to the former one of its kind any more. Returns where it is. */
  #replace(former: number | null, carrier: Carrier): number {
    if (former !== null) this.#held[former] = this.#written(this.#held[former] as Carrier);
    return this.#push(carrier, carrier.text.length);
  }

  #push(held: Carrier | Outgoing, bytes: number): number {
    if (!this.isEmpty) this.#bytes += bytes;
    return this.#held.push(held) - 1;
  }

  /** Takes everything out, as events, with the additions on those that carry them. */
  release(additions: Additions = {}): Outgoing[] {
    const events = this.#held.map((each) => ('bytes' in each ? each : this.#written(each, additions)));
    this.#held = [];
    this.#bytes = 0;
    this.#endAt = null;
    this.#usageAt = null;
    return events;
  }

  #written({ at, name, text, value }: Carrier, additions: Additions = {}): Outgoing {
    return { at, bytes: dataEvent(this.#add(text, value, additions), name) };
  }
}
