/** Collects indexes of a log. Each run without a gap is kept as its two ends, so the size depends only on the number of gaps. */
export class IndexRuns {
  readonly #endOf = new Map<number, number>();
  readonly #startOf = new Map<number, number>();
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;

  /** Ignores what is no index. */
  add(index: unknown): void {
    const at = Number(index);
    if (!Number.isSafeInteger(at)) return;
    this.#first = Math.min(this.#first, at);
    this.#last = Math.max(this.#last, at);
    const [start, end] = [this.#startOf.get(at - 1) ?? at, this.#endOf.get(at + 1) ?? at];
    this.#startOf.delete(at - 1);
    this.#endOf.delete(at + 1);
    // A repeated index may lie within a longer run.
    this.#endOf.set(start, Math.max(end, this.#endOf.get(start) ?? end));
    this.#startOf.set(end, Math.min(start, this.#startOf.get(end) ?? start));
  }

  /** Adds an index only between the first and the last one. */
  fill(index: number): void {
    if (this.#first < index && index < this.#last) this.add(index);
  }

  /** Between the first and the last one, both ends inclusive. */
  gaps(): (readonly [number, number])[] {
    let reached: number | null = null;
    return [...this.#endOf]
      .toSorted(([a], [b]) => a - b)
      .flatMap(([start, end]) => {
        const before = reached;
        reached = Math.max(before ?? end, end);
        return before === null || start <= before + 1 ? [] : [[before + 1, start - 1] as const];
      });
  }
}
