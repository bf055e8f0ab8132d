/** A number of bytes that all calls of this process share. */
export class Room {
  readonly #most: number;
  #taken = 0;

  constructor(mostBytes: number) {
    this.#most = mostBytes;
  }

  /** Changes what one call takes, and returns whether there is room for it; if not, nothing changes. Less always fits. */
  change(from: number, to: number): boolean {
    const taken = this.#taken - from + to;
    if (to > from && taken > this.#most) return false;
    this.#taken = taken;
    return true;
  }
}
