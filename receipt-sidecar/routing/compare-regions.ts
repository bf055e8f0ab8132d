/**
 * Carbon-aware choice of a region: the one whose grid has the lowest carbon intensity at this moment.
 *
 * Invariants: pure. Only values of one scale are compared (grid-signals.ts); where fewer than two regions can be, nothing
 * is chosen and the caller falls back to the provider preference. A region that was chosen before stays until another one is
 * lower by more than `switchMargin`, so that two that are nearly alike do not take turns.
 */
import { err, ok, type Result } from '@gw/contract/internal/result';
import type { LiveSignal } from '../catalogue/grid-signals.ts';

/** A region that can serve the call. */
export interface Contender {
  readonly region: string;
  readonly signals: readonly LiveSignal[];
}

export interface Comparison {
  /** The region that is chosen. */
  readonly region: string;
  /** Whether it was kept although another one is a little lower. */
  readonly isKept: boolean;
  /** Those that were compared, in the order of provider preference. */
  readonly regions: readonly string[];
  /** Returns the signal that was compared; null if the region was not. */
  readonly signalOf: (region: string) => LiveSignal | null;
}

/** Why nothing was compared; in `routing_trace` as `fallback_reason`. */
export type FallbackReason =
  | 'no_live_grid_signal'
  | 'too_few_live_signals'
  | 'no_comparable_signals'
  | 'none_within_tolerance'
  | 'single_region';

/** An assumption: intensities of neighbouring hours differ by more, and errors of their estimates are larger. */
export const switchMargin = 0.05;

/**
 * Compares the regions at the moment `at` (ms since 1970). `contenders` come in the order of provider preference, each region
 * once; of equals the first is chosen. `current` is the region that was chosen last, if one was.
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

/** What can be compared: the signals stand in the order of their regions. */
interface Scale {
  readonly name: string;
  readonly regions: string[];
  readonly signals: LiveSignal[];
}

/** Arrays, since there are a handful of scales and a map of maps took twice the time with 50 regions. */
function note(scales: Scale[], region: string, signal: LiveSignal): void {
  const scale = scales.find(({ name }) => name === signal.scale);
  if (!scale) scales.push({ name: signal.scale, regions: [region], signals: [signal] });
  else if (scale.regions.at(-1) !== region) {
    scale.regions.push(region);
    scale.signals.push(signal);
  }
}

/** Returns the scale with more regions; of equals averages before marginal values, then by name, so that all agree. */
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
  const region = regions[values.indexOf(lowest)] ?? '';
  const isKept = current !== region && ofCurrent !== undefined && ofCurrent * (1 - switchMargin) <= lowest;
  const signalOf = (code: string) => signals[regions.indexOf(code)] ?? null;
  return { region: isKept && current !== undefined ? current : region, isKept, regions, signalOf };
}
