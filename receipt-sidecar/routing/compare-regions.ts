/**
 * Finds the region whose grid has the lowest carbon intensity at the moment.
 *
 * Invariants: the functions are pure. Only values of one scale are compared (grid-signals.ts); if fewer than two regions are comparable,
 * none is chosen and the caller falls back to the provider preference. The current region stays until another one is lower by more than
 * `switchMargin`, so that calls do not alternate between two regions that are nearly alike.
 */
import { elementAt } from '@gw/contract/internal/defined';
import { err, ok, type Result } from '@gw/contract/internal/result';
import type { LiveSignal } from '../catalogue/grid-signals.ts';

export interface Contender {
  readonly region: string;
  readonly signals: readonly LiveSignal[];
}

export interface Comparison {
  /** The region that was chosen. */
  readonly region: string;
  /** Whether it was kept although another one is a little lower. */
  readonly isKept: boolean;
  /** The regions that were compared, in the order of provider preference. */
  readonly regions: readonly string[];
  /** Returns the signal that was compared; null if the region was not compared. */
  readonly signalOf: (region: string) => LiveSignal | null;
}

/** Why nothing was compared; `routing_trace` shows it as `fallback_reason`. */
export type FallbackReason =
  | 'no_live_grid_signal'
  | 'too_few_live_signals'
  | 'no_comparable_signals'
  | 'none_within_tolerance'
  | 'single_region';

/** This is an assumption: intensities of neighbouring hours differ by more, and the errors of their estimates are larger. */
export const switchMargin = 0.05;

/**
 * Compares the regions at `at` (ms since 1970). `contenders` has each region once, in the order of provider preference; the first of
 * equals is chosen. `current` is the region that was chosen last, if any.
 */
export function compareRegions(
  contenders: readonly Contender[],
  current: string | undefined,
  at: number,
): Result<Comparison, FallbackReason> {
  const scales: Scale[] = [];
  let live = 0;
  for (const { region, signals } of contenders) {
    let isLive = false;
    for (const signal of signals) {
      if (signal.from > at || at >= signal.until) continue;
      isLive = true;
      note(scales, region, signal);
    }
    if (isLive) live += 1;
  }
  if (live === 0) return err('no_live_grid_signal');
  if (contenders.length === 1) return err('single_region');
  if (live === 1) return err('too_few_live_signals');
  const { regions, signals } = scales.reduce(betterScale);
  return regions.length < 2 ? err('no_comparable_signals') : ok(lowestOf(regions, signals, current));
}

/** Signals that can be compared with each other; `signals` and `regions` have the same order. */
interface Scale {
  readonly name: string;
  readonly regions: string[];
  readonly signals: LiveSignal[];
}

/** It uses arrays since there are a handful of scales: a map of maps took twice the time with 50 regions. */
function note(scales: Scale[], region: string, signal: LiveSignal): void {
  const scale = scales.find(({ name }) => name === signal.scale);
  if (!scale) scales.push({ name: signal.scale, regions: [region], signals: [signal] });
  else if (scale.regions.at(-1) !== region) {
    scale.regions.push(region);
    scale.signals.push(signal);
  }
}

/** Prefers the scale with more regions, then averages to marginal values, then the name, so that all sidecars agree. */
function betterScale(a: Scale, b: Scale): Scale {
  if (a.regions.length !== b.regions.length) return a.regions.length > b.regions.length ? a : b;
  return rank(a) <= rank(b) ? a : b;
}
/** "average lifecycle" sorts behind "average combustion", though it tells more. */
const rank = ({ name }: Scale): string => (name === 'average lifecycle' ? '' : name);

function lowestOf(regions: readonly string[], signals: readonly LiveSignal[], current: string | undefined): Comparison {
  const values = signals.map(({ reading }) => reading.gPerKwh);
  const lowest = Math.min(...values);
  const ofCurrent = current === undefined ? undefined : values[regions.indexOf(current)];
  const region = elementAt(regions, values.indexOf(lowest));
  const isKept = current !== region && ofCurrent !== undefined && ofCurrent * (1 - switchMargin) <= lowest;
  const signalOf = (code: string) => signals[regions.indexOf(code)] ?? null;
  return { region: isKept && current !== undefined ? current : region, isKept, regions, signalOf };
}
