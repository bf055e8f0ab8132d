/**
 * Mends deltas of one text each, in APIs that name the text by places of their own: as split-pairs.ts, a character of two UTF-16 units that a
 * server has cut into halves goes out whole in the second delta. A half whose text ends behind it is left out.
 *
 * Invariant: no more than `mostHalves` are kept.
 */
import { cutAtEnd, halfEscape, mostHalves } from './split-pairs.ts';

export class HalfPairs {
  /** The escapes of the first halves that wait, by the places of their texts. */
  readonly #halves = new Map<string, string>();

  /** Whether a half waits for the other one. */
  get isWaiting(): boolean {
    return this.#halves.size > 0;
  }

  /** Whether an event may have to change. `data` is its JSON. */
  concerns(data: string): boolean {
    return this.isWaiting || halfEscape.test(data);
  }

  /** Returns the JSON of the next piece of a text. */
  mended(literal: string, place: string): string {
    const inside = literal.slice(1, -1);
    const begun = this.#halves.get(place);
    const text = begun === undefined ? inside : begun + inside;
    this.#halves.delete(place);
    const at = cutAtEnd(text);
    if (at === null || this.#halves.size >= mostHalves) return `"${text}"`;
    this.#halves.set(place, text.slice(at));
    return `"${text.slice(0, at)}"`;
  }

  /** The texts whose places begin so are over. */
  end(beginning: string): void {
    for (const place of this.#halves.keys()) if (place.startsWith(beginning)) this.#halves.delete(place);
  }
}
