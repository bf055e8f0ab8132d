/**
 * Bytes on their way to the client, with the offset in the provider's stream of the bytes that they replace: Envoy must not send those as
 * well.
 */
export interface Outgoing {
  /** The offset in the provider's stream. */
  readonly at: number;
  readonly bytes: Buffer;
}

/** The bytes that are ready to be sent, in order. */
export class Outbox {
  #ready: Outgoing[] = [];

  get isEmpty(): boolean {
    return this.#ready.length === 0;
  }

  add(ready: Iterable<Outgoing>): void {
    for (const each of ready) this.#ready.push(each);
  }

  /** Removes and returns the bytes that began before this offset. */
  take(before: number): Buffer {
    const first = this.#ready.findIndex(({ at }) => at >= before);
    const taken = this.#ready.splice(0, first === -1 ? this.#ready.length : first);
    return taken.length === 1 && taken[0] ? taken[0].bytes : Buffer.concat(taken.map(({ bytes }) => bytes));
  }
}
