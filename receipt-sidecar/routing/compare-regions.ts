/**
 * Compares regions by the carbon that a call is estimated to cause in each, in grams.
 *
 * Invariants: the functions are pure. Only intensities of one scale are compared (grid-signals.ts); if fewer than two regions are comparable,
 * none is chosen and the caller falls back to the provider preference. The lowest estimate decides, of equals the first by preference.
 */
import { elementAt } from '@gw/contract/internal/defined';
import { err, ok, type Result } from '@gw/contract/internal/result';
import type { LiveSignal } from '../catalogue/grid-signals.ts';

export interface Contender {
  readonly region: string;
  readonly signals: readonly LiveSignal[];
  /** Returns the estimated grams of the call with this signal; null if they cannot be estimated. */
  readonly gramsBy: (signal: LiveSignal) => number | null;
}

/** A region with the signal that was compared and the estimate that follows from it. */
export interface ComparedRegion {
  readonly region: string;
  readonly signal: LiveSignal;
  readonly grams: number;
}

export interface Comparison {
  /** The lowest estimate first; at least two. */
  readonly ranked: readonly ComparedRegion[];
  /** The region that was chosen. */
  readonly region: string;
  /** Returns what was compared; null if the region was not. */
  readonly of: (region: string) => ComparedRegion | null;
}

/** Why nothing was compared; `routing_trace` shows it as `fallback_reason`. */
export type FallbackReason =
  | 'no_live_grid_signal'
  | 'too_few_live_signals'
  | 'no_comparable_signals'
  | 'none_within_tolerance'
  | 'single_region';

/** Compares the regions at `at` (ms since 1970). `contenders` has each region once, in the order of provider preference. */
export function compareRegions(contenders: readonly Contender[], at: number): Result<Comparison, FallbackReason> {
  const scales: Scale[] = [];
  let live = 0;
  for (const contender of contenders) {
    let isLive = false;
    for (const signal of contender.signals) {
      if (signal.from > at || at >= signal.until) continue;
      isLive = true;
      note(scales, contender, signal);
    }
    if (isLive) live += 1;
  }
  if (live === 0) return err('no_live_grid_signal');
  if (contenders.length === 1) return err('single_region');
  if (live === 1) return err('too_few_live_signals');
  const ranked = rankedOn(scales.reduce(betterScale));
  if (ranked.length < 2) return err('no_comparable_signals');
  const { region } = elementAt(ranked, 0);
  return ok({ ranked, region, of: (code) => ranked.find((each) => each.region === code) ?? null });
}

/** Estimates nothing where there is nothing to compare. The sort is stable, so that of equals the preferred region comes first. */
function rankedOn({ entries }: Scale): ComparedRegion[] {
  if (entries.length < 2) return [];
  const compared = entries.flatMap(({ contender: { gramsBy, region }, signal }) => {
    const grams = gramsBy(signal);
    return grams === null ? [] : { region, signal, grams };
  });
  return compared.sort((a, b) => a.grams - b.grams);
}

/** Signals that can be compared with each other, one for each region. */
interface Scale {
  readonly name: string;
  readonly entries: { readonly contender: Contender; readonly signal: LiveSignal }[];
}

/** It uses arrays since there are a handful of scales: a map of maps took twice the time with 50 regions. */
function note(scales: Scale[], contender: Contender, signal: LiveSignal): void {
  const scale = scales.find(({ name }) => name === signal.scale);
  if (!scale) scales.push({ name: signal.scale, entries: [{ contender, signal }] });
  else if (scale.entries.at(-1)?.contender !== contender) scale.entries.push({ contender, signal });
}

/** Prefers the scale with more regions, then averages to marginal values, then the name, so that all sidecars agree. */
function betterScale(a: Scale, b: Scale): Scale {
  if (a.entries.length !== b.entries.length) return a.entries.length > b.entries.length ? a : b;
  return rank(a) <= rank(b) ? a : b;
}
/** "average lifecycle" sorts behind "average combustion", though it tells more. */
const rank = ({ name }: Scale): string => (name === 'average lifecycle' ? '' : name);
