/**
 * A sorted list of public ids, 12 bytes each, with binary search. New ids are kept separately, so that a million ids are not copied for
 * each one.
 */

/** Length of a public id, bytes. */
export const width = 12;

/** New ids before a merge, which blocks calls for some 10 ms with a million ids. */
const mostLater = 1000;

export class IdList {
  #sorted: Buffer;
  readonly #later = new Set<string>();

  constructor(sorted: Buffer) {
    this.#sorted = sorted;
  }

  has(id: string): boolean {
    if (this.#later.has(id)) return true;
    const place = this.#placeOf(id);
    return this.#sorted.toString('latin1', place, place + width) === id;
  }

  add(id: string): void {
    if (this.has(id)) return;
    this.#later.add(id);
    if (this.#later.size >= mostLater) this.#merge();
  }

  #merge(): void {
    const merged = Buffer.allocUnsafe(this.#sorted.length + this.#later.size * width);
    let [read, written] = [0, 0];
    for (const id of [...this.#later].sort()) {
      const place = this.#placeOf(id);
      written += this.#sorted.copy(merged, written, read, place);
      written += merged.write(id, written, 'latin1');
      read = place;
    }
    this.#sorted.copy(merged, written, read);
    this.#sorted = merged;
    this.#later.clear();
  }

  /** Returns the offset of the first sorted id that is not below this one. */
  #placeOf(id: string): number {
    const wanted = Buffer.from(id, 'latin1');
    let low = 0;
    let high = this.#sorted.length / width;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#sorted.compare(wanted, 0, wanted.length, middle * width, (middle + 1) * width) < 0) low = middle + 1;
      else high = middle;
    }
    return low * width;
  }
}
