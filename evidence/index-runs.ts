/** Both ends inclusive. */
export type Run = readonly [from: number, to: number];

/** Collects indexes of a log. Each run without a gap is kept as its two ends, so the size depends only on the number of gaps. */
export class IndexRuns {
  readonly #endOf = new Map<number, number>();
  readonly #startOf = new Map<number, number>();

  /** Ignores what is no index. */
  add(index: unknown): void {
    const at = Number(index);
    if (!Number.isSafeInteger(at)) return;
    const [start, end] = [this.#startOf.get(at - 1) ?? at, this.#endOf.get(at + 1) ?? at];
    this.#startOf.delete(at - 1);
    this.#endOf.delete(at + 1);
    // A repeated index may lie within a longer run.
    this.#endOf.set(start, Math.max(end, this.#endOf.get(start) ?? end));
    this.#startOf.set(end, Math.min(start, this.#startOf.get(end) ?? start));
  }

  /** Returns what is missing of some runs that are given in their order. Those may be of many, so all are asked for at once. */
  missingOf(wanted: readonly Run[]): Run[] {
    const own = [...this.#endOf].toSorted(([a], [b]) => a - b);
    const missing: Run[] = [];
    let at = 0;
    for (const [from, to] of wanted) {
      let next = from;
      while (at < own.length && Number(own[at]?.[1]) < from) at += 1;
      for (let run = own[at]; run !== undefined && run[0] <= to; run = own[at]) {
        if (run[0] > next) missing.push([next, run[0] - 1]);
        next = Math.max(next, run[1] + 1);
        if (run[1] > to) break;
        at += 1;
      }
      if (next <= to) missing.push([next, to]);
    }
    return missing;
  }
}
