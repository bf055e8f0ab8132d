/** What is told one by one, up to a thousand; the rest is counted, so that a pack of any length has an answer that can be held. */
const mostTold = 1000;

export class Told<T> {
  readonly #list: T[] = [];
  #untold = 0;

  get list(): readonly T[] {
    return this.#list;
  }

  get untold(): number {
    return this.#untold;
  }

  add(...all: readonly T[]): void {
    const room = Math.max(0, mostTold - this.#list.length);
    this.#list.push(...all.slice(0, room));
    this.#untold += Math.max(0, all.length - room);
  }
}
