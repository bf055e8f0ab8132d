/** The arithmetic of the benchmarks. An empty list has no median: the answer is null, never 0. */

/** The value below which `share` (0 to 1) of the sorted values lie, by the nearest rank. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = Float64Array.from(values).sort();
  const rank = Math.max(Math.ceil(share * sorted.length), 1);
  return sorted[rank - 1] ?? null;
}

/** The middle value, or the mean of the two in the middle. */
export function median(values: readonly number[]): number | null {
  const sorted = Float64Array.from(values).sort();
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  return upper === undefined || lower === undefined ? null : (lower + upper) / 2;
}

/** Null if either is missing or the divisor is 0. */
export const ratio = (value: number | null | undefined, to: number | null | undefined): number | null =>
  typeof value === 'number' && typeof to === 'number' && to !== 0 ? value / to : null;

export const difference = (value: number | null | undefined, from: number | null | undefined): number | null =>
  typeof value === 'number' && typeof from === 'number' ? value - from : null;

/** The median over rounds of a figure made from one round; rounds without the figure do not count. */
export function medianOf<T>(rounds: readonly T[], figure: (round: T) => number | null): number | null {
  return median(rounds.map(figure).filter((value) => value !== null));
}

/** The lowest and the highest figure of all rounds: how far its median can be trusted. */
export interface Range {
  readonly lowest: number;
  readonly highest: number;
}

export function rangeOf<T>(rounds: readonly T[], figure: (round: T) => number | null): Range | null {
  const values = rounds.map(figure).filter((value) => value !== null);
  return values.length === 0 ? null : { lowest: Math.min(...values), highest: Math.max(...values) };
}
