/**
 * The socket of a connection. All writes of one turn of the event loop leave in one system call, and a peer that vanished, because its
 * machine or the network died, is detected. TCP alone would keep such a connection for a quarter of an hour with unacknowledged data, and
 * for ever without.
 *
 * Invariant: a peer that answers pings is never dropped, however long this process was suspended: it takes two ticks of the timer, with
 * a turn of the event loop in between that reads an answer.
 */
import type { Socket } from 'node:net';

/** The connection to a peer that leaves this much unread, beyond flow control, is closed. */
const maxUnreadBytes = 256 * 1024 * 1024;

/** Up to this size, pending writes are concatenated. */
const copiedBytes = 128 * 1024;

const sizeOf = (waiting: readonly Buffer[]): number => waiting.reduce((sum, { length }) => sum + length, 0);

/** Collects writes until the next turn of the event loop. */
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

  /** Writes many megabytes without a copy, still in one system call. */
  #writeAll(waiting: readonly Buffer[]): void {
    this.#socket.cork();
    for (const bytes of waiting) this.#socket.write(bytes);
    this.#socket.uncork();
  }
}

/** A peer that was silent for one tick gets a ping; if it is still silent at the next, it is dropped. */
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
