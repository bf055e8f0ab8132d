/**
 * Room for the large messages that are on their way: each gets its memory when its length is known, so all of them at once
 * could be more than the process has.
 *
 * Invariants: they come in the order in which they began; those that have room hold no more than `bytes` together, or are
 * one that is larger; who leaves makes room once.
 */
interface Coming {
  readonly size: number;
  readonly begin: () => void;
}

export class MessageRoom {
  readonly #bytes: number;
  readonly #waiting = new Set<Coming>();
  readonly #inside = new Set<Coming>();
  #held = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** `begin` is called when there is room, at once if there is now. Returns what makes the room free again. */
  enter(size: number, begin: () => void): () => void {
    const coming = { size, begin };
    this.#waiting.add(coming);
    this.#advance();
    return () => {
      if (this.#inside.delete(coming)) this.#held -= size;
      this.#waiting.delete(coming);
      this.#advance();
    };
  }

  #advance(): void {
    for (const coming of this.#waiting) {
      if (this.#inside.size > 0 && this.#held + coming.size > this.#bytes) return;
      this.#waiting.delete(coming);
      this.#inside.add(coming);
      this.#held += coming.size;
      coming.begin();
    }
  }
}
