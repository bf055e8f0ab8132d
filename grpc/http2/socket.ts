/**
 * The socket below a connection: what one turn of the event loop writes leaves in one system call, and a peer that is gone
 * without a word is noticed, because its machine has died, or the network between. TCP would keep such a connection for a
 * quarter of an hour when something of ours is on its way, and for ever when nothing is.
 *
 * Invariant: a peer that answers pings is never given up, however long this process stood still meanwhile: it takes two
 * ticks of the timer, with a turn of the event loop between them in which an answer is read.
 */
import type { Socket } from 'node:net';

/** A peer that leaves this much unread, beyond what flow control holds back, is given up. */
const maxUnreadBytes = 256 * 1024 * 1024;

/** Up to here what waits is copied together. */
const copiedBytes = 128 * 1024;

const sizeOf = (waiting: readonly Buffer[]): number => waiting.reduce((sum, { length }) => sum + length, 0);

/** Gathers what is written until the next turn of the event loop. */
export class Outbox {
  readonly #socket: Socket;
  #waiting: Buffer[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  write(bytes: Buffer): void {
    this.#waiting.push(bytes);
    if (this.#waiting.length === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (this.#socket.destroyed) return;
    if (this.#socket.writableLength > maxUnreadBytes) {
      this.#socket.destroy();
      return;
    }
    if (waiting.length === 1) this.#socket.write(waiting[0] as Buffer);
    else if (sizeOf(waiting) <= copiedBytes) this.#socket.write(Buffer.concat(waiting));
    else this.#writeAll(waiting);
  }

  /** Many megabytes: as they lie, still in one system call. */
  #writeAll(waiting: readonly Buffer[]): void {
    this.#socket.cork();
    for (const bytes of waiting) this.#socket.write(bytes);
    this.#socket.uncork();
  }
}

/** A peer that was silent from one tick to the next is asked; one that is still silent at the next is given up. */
export const tickMs = 5000;

export function destroyWhenSilent(socket: Socket, ping: () => void): void {
  let heard = true;
  let asked = false;
  const timer = setInterval(() => {
    if (!heard && asked) return void socket.destroy();
    asked = !heard;
    heard = false;
    if (asked) ping();
  }, tickMs).unref();
  socket.on('data', () => {
    heard = true;
  });
  socket.on('close', () => clearInterval(timer));
}
