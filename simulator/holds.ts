/**
 * Replies that wait for a word of the test that asked for them, by their `x-sim-marker`: so that what is done in their middle
 * is done in their middle, however slow the machine.
 */
import type { ServerResponse } from 'node:http';

/** Before the first byte of the reply, or with half of it sent. */
export const holdPoints = ['start', 'middle'] as const;
export type HoldPoint = (typeof holdPoints)[number];

export interface Hold {
  readonly at: HoldPoint;
  readonly marker: string;
}

export class Holds {
  readonly #released = new Set<string>();
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Goes on at this point of the reply: at once, unless it is held there and was not released yet. */
  pass(res: ServerResponse, hold: Hold | null, at: HoldPoint, goOn: () => void): void {
    if (hold?.at !== at || this.#released.has(hold.marker)) {
      goOn();
      return;
    }
    const waiting = this.#waiting.get(hold.marker) ?? new Set();
    this.#waiting.set(hold.marker, waiting.add(goOn));
    res.once('close', () => waiting.delete(goOn));
  }

  /** Lets what waits with this marker go on, and what comes with it later. */
  release(marker: string): void {
    this.#released.add(marker);
    for (const goOn of this.#waiting.get(marker) ?? []) goOn();
    this.#waiting.delete(marker);
  }
}
