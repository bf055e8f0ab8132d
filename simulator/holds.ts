/**
 * Holds replies until a test releases their `x-sim-marker`, so that its actions happen in the middle of a reply on any machine, however
 * slow.
 */
import type { ServerResponse } from 'node:http';

/** Before the first byte of the reply, or after half of it. */
export const holdPoints = ['start', 'middle'] as const;
export type HoldPoint = (typeof holdPoints)[number];

export interface Hold {
  readonly at: HoldPoint;
  readonly marker: string;
}

export class Holds {
  readonly #released = new Set<string>();
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Continues at this point of the reply, immediately unless it is held there. */
  pass(res: ServerResponse, hold: Hold | null, at: HoldPoint, goOn: () => void): void {
    if (hold?.at !== at || this.#released.has(hold.marker)) {
      goOn();
      return;
    }
    const waiting = this.#waiting.get(hold.marker) ?? new Set();
    this.#waiting.set(hold.marker, waiting.add(goOn));
    res.once('close', () => waiting.delete(goOn));
  }

  /** Releases all current and later replies with this marker. */
  release(marker: string): void {
    this.#released.add(marker);
    for (const goOn of this.#waiting.get(marker) ?? []) goOn();
    this.#waiting.delete(marker);
  }
}
