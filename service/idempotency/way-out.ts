/**
 * Large replies that go out again, in turns: hundreds may have waited for the same one, and what is sent faster than it is
 * taken fills the memory of this process.
 *
 * Invariants: what is out holds no more than `roomBytes` together, or is one that is larger; they go in the order in which
 * they came. Room comes back when the call is over, by which whoever gets the reply has taken it.
 */

const roomBytes = 8 * 1024 * 1024;
/** Smaller ones are no burden, however many there are. */
const smallBytes = 16 * 1024;
/** Room comes back after this time in any case, so that one who takes nothing does not hold up all others, ms. */
const heldMs = 1000;

interface Turn {
  readonly bytes: number;
  readonly begin: () => void;
}

export class WayOut {
  readonly #queue = new Set<Turn>();
  readonly #out = new Set<Turn>();
  #bytes = 0;

  /** Whether so much can go out at once. */
  isFree(bytes: number): boolean {
    return bytes <= smallBytes || (this.#queue.size === 0 && this.#hasRoom(bytes));
  }

  /** Resolves to true when so much may go out; to false if the time is over before, or the call. */
  async enter(bytes: number, mostMs: number, onOver: (then: () => void) => void): Promise<boolean> {
    if (bytes <= smallBytes) return true;
    return new Promise((resolve) => {
      const over = () => {
        clearTimeout(timer);
        if (this.#out.delete(turn)) this.#bytes -= bytes;
        else if (this.#queue.delete(turn)) resolve(false);
        this.#advance();
      };
      let timer = setTimeout(over, mostMs);
      const begin = () => {
        clearTimeout(timer);
        timer = setTimeout(over, heldMs).unref();
        resolve(true);
      };
      const turn: Turn = { bytes, begin };
      this.#queue.add(turn);
      onOver(over);
      this.#advance();
    });
  }

  #hasRoom(bytes: number): boolean {
    return this.#out.size === 0 || this.#bytes + bytes <= roomBytes;
  }

  #advance(): void {
    for (const turn of this.#queue) {
      if (!this.#hasRoom(turn.bytes)) return;
      this.#queue.delete(turn);
      this.#out.add(turn);
      this.#bytes += turn.bytes;
      turn.begin();
    }
  }
}
