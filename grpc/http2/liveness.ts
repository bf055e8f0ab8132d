/**
 * Notices a peer that is gone without a word: its machine has died, or the network between. TCP would keep such a
 * connection for a quarter of an hour when something of ours is on its way, and for ever when nothing is.
 *
 * Invariant: a peer that answers pings is never given up, however long this process stood still meanwhile: it takes two
 * ticks of the timer, with a turn of the event loop between them in which an answer is read.
 */
import type { Socket } from 'node:net';

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
