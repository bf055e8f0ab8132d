/**
 * Feeds the pieces of a stream to a reader in order, a long one in several turns of the event loop: it may hold tens of thousands of events,
 * and other calls are waiting.
 */
interface StreamPiece {
  readonly bytes: Buffer;
  /** The stream ends with this piece. */
  readonly end: boolean;
}

/** Reads a part of a piece; `piece` is set with the last part. */
type Read = (part: Buffer, piece: StreamPiece | null) => void;

/** Bytes that are read in one turn: filled with the smallest events they take some milliseconds. */
const turnBytes = 32 * 1024;

export class Turns {
  readonly #read: Read;
  readonly #fail: (error: unknown) => void;
  readonly #pieces: StreamPiece[] = [];
  /** How much of the first piece has been read. */
  #at = 0;
  #next: NodeJS.Immediate | undefined;
  #isPaused = false;

  /** `fail` is called if reading throws in a later turn; in the first one `add` throws. */
  constructor(read: Read, fail: (error: unknown) => void) {
    this.#read = read;
    this.#fail = fail;
  }

  add(piece: StreamPiece): void {
    this.#pieces.push(piece);
    if (!this.#next) this.#turn();
  }

  /** Holds back further pieces; the current one is read to its end. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    if (!this.#next) this.#turn();
  }

  stop(): void {
    this.#pieces.length = 0;
    clearImmediate(this.#next);
  }

  #later(): void {
    try {
      this.#turn();
    } catch (error) {
      this.stop();
      this.#fail(error);
    }
  }

  #turn(): void {
    this.#next = undefined;
    for (let left = turnBytes; !this.#isPaused || this.#at > 0; ) {
      const piece = this.#pieces[0];
      if (!piece) return;
      if (left <= 0) {
        this.#next = setImmediate(() => this.#later());
        return;
      }
      const { bytes } = piece;
      const to = Math.min(bytes.length, this.#at + left);
      const part = to - this.#at === bytes.length ? bytes : bytes.subarray(this.#at, to);
      left -= part.length;
      const isLast = to === bytes.length;
      this.#at = isLast ? 0 : to;
      if (isLast) this.#pieces.shift();
      this.#read(part, isLast ? piece : null);
    }
  }
}
