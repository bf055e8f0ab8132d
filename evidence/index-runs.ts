/** Places in a log, of which each run without a gap is kept as its two ends: as few as there are gaps. */
export class IndexRuns {
  readonly #endOf = new Map<number, number>();
  readonly #startOf = new Map<number, number>();

  /** What is no place is left out. */
  add(index: unknown): void {
    const at = Number(index);
    if (!Number.isSafeInteger(at)) return;
    const [start, end] = [this.#startOf.get(at - 1) ?? at, this.#endOf.get(at + 1) ?? at];
    this.#startOf.delete(at - 1);
    this.#endOf.delete(at + 1);
    // A place that comes once more may be within a run, which is longer.
    this.#endOf.set(start, Math.max(end, this.#endOf.get(start) ?? end));
    this.#startOf.set(end, Math.min(start, this.#startOf.get(end) ?? start));
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
