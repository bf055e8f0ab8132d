/** Most items that a list of findings names one by one. */
const mostNamed = 1000;

/** Keeps the first thousand items and counts the rest, so that the findings about a pack of any length fit into memory. */
export class CappedList<T> {
  readonly #list: T[] = [];
  #untold = 0;

  get list(): readonly T[] {
    return this.#list;
  }

  /** How many items are not in the list. */
  get untold(): number {
    return this.#untold;
  }

  add(item: T): void {
    if (this.#list.length < mostNamed) this.#list.push(item);
    else this.#untold += 1;
  }

  addAll(items: readonly T[]): void {
    for (const item of items) this.add(item);
  }
}
