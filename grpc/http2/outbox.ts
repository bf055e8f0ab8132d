/** Gathers what one turn of the event loop writes to a socket, so that it leaves in one system call. */
import type { Socket } from 'node:net';

/** A peer that leaves this much unread, beyond what flow control holds back, is given up. */
const maxUnreadBytes = 256 * 1024 * 1024;

/** Up to here what waits is copied together. */
const copiedBytes = 128 * 1024;

const sizeOf = (waiting: readonly Buffer[]): number => waiting.reduce((sum, { length }) => sum + length, 0);

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
