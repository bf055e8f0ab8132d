/**
 * Sends large replayed replies in turns: hundreds of calls may wait for the same one, and replies that clients read slowly fill the
 * memory of this process.
 *
 * Invariants: replies in flight hold at most `roomBytes` together, or are a single larger one. They are sent in the order of their
 * arrival. Room becomes free when the call is over, and so its reply delivered.
 */

const roomBytes = 8 * 1024 * 1024;
/** Smaller replies are sent immediately. */
const smallBytes = 16 * 1024;
/** Room becomes free after this time in any case, ms, so that a client that does not read cannot block all others. */
const heldMs = 1000;

interface Turn {
  readonly bytes: number;
  readonly begin: () => void;
}

export class WayOut {
  readonly #queue = new Set<Turn>();
  readonly #out = new Set<Turn>();
  #bytes = 0;

  /** Whether a reply of this size can be sent immediately. */
  isFree(bytes: number): boolean {
    return bytes <= smallBytes || (this.#queue.size === 0 && this.#hasRoom(bytes));
  }

  /** Resolves to true when the reply may be sent, or to false if the time or the call ends first. */
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
