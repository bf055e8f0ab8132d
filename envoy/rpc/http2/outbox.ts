/** Gathers what one turn of the event loop writes to a socket, so that it leaves in one system call. */
import type { Socket } from 'node:net';

/** A peer that leaves this much unread, beyond what flow control holds back, is given up. */
const maxUnreadBytes = 256 * 1024 * 1024;

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
    this.#socket.write(waiting.length === 1 ? (waiting[0] as Buffer) : Buffer.concat(waiting));
  }
}
