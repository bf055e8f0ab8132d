/**
 * Reads the events of a provider's stream within the bounds of one event and the room that all streams share.
 *
 * Invariant: the room that an unfinished event takes is given back when it is complete, and with the last event that is read.
 */
import { type EventHandler, EventReader } from '../wire/events.ts';
import type { Room } from '../wire/room.ts';
import { maxReplyBytes } from './read-reply.ts';

/** An event can be as large as a whole reply: a picture is one event. A larger one is refused. */
const maxEventBytes = maxReplyBytes;
/** Unfinished events below this size are held without asking for room: there are no more of them than streams. */
const smallEventBytes = 1024 * 1024;

export class BoundedEvents {
  readonly #reader: EventReader;
  readonly #room: Room;
  /** The bytes of the room that the unfinished event takes. */
  #taken = 0;

  constructor(room: Room, handler: EventHandler) {
    this.#room = room;
    this.#reader = new EventReader(handler);
  }

  /** Where the last event began, in the provider's stream. */
  get eventAt(): number {
    return this.#reader.eventAt;
  }

  /** Where the unfinished event began, in the provider's stream; null if there is none. */
  get unfinishedAt(): number | null {
    return this.#reader.size > 0 ? this.#reader.unfinishedAt : null;
  }

  /** Whether the last bytes had lines that are no data. */
  get sawOther(): boolean {
    return this.#reader.sawOther;
  }

  /** Reads bytes, and returns whether there is room for what is unfinished behind them. */
  push(bytes: Buffer): boolean {
    this.#reader.sawOther = false;
    this.#reader.push(bytes);
    return this.#hasRoom(this.#reader.size);
  }

  /** Reads what is unfinished as if it were complete. */
  end(): void {
    this.#reader.end();
  }

  /** Reads no more. */
  close(): void {
    this.#reader.stop();
    this.#hasRoom(0);
  }

  #hasRoom(bytes: number): boolean {
    const wanted = bytes > smallEventBytes ? bytes : 0;
    if (bytes > maxEventBytes || !this.#room.change(this.#taken, wanted)) return false;
    this.#taken = wanted;
    return true;
  }
}
