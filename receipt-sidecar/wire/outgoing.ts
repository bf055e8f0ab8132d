/**
 * Bytes on their way to the client, with where in the provider's stream began what they came of: what Envoy still holds of
 * that must not go out as well.
 */

export interface Outgoing {
  /** How many bytes of the provider came before it. */
  readonly at: number;
  readonly bytes: Buffer;
}

/** What can go out, in its order. */
export class Outbox {
  #ready: Outgoing[] = [];

  get isEmpty(): boolean {
    return this.#ready.length === 0;
  }

  add(ready: Iterable<Outgoing>): void {
    for (const each of ready) this.#ready.push(each);
  }

  /** Takes out what began before this place. */
  take(before: number): Buffer {
    const first = this.#ready.findIndex(({ at }) => at >= before);
    const taken = this.#ready.splice(0, first === -1 ? this.#ready.length : first);
    return taken.length === 1 && taken[0] ? taken[0].bytes : Buffer.concat(taken.map(({ bytes }) => bytes));
  }
}
