/**
 * The energy of one call from the counters of the GPUs that served it.
 *
 * Invariant: for every counter the last sample before the call and the first one after it are taken, as they were
 * scraped; nothing is interpolated. A counter without such a pair, or too few GPUs, gives nothing, never a smaller sum.
 */
import { millijoulesIn, readGpuCounters, type SeenCounter } from '@gw/methodology/telemetry/gpu-counters';
import type { TelemetryReading, TelemetryRefusal } from '@gw/methodology/telemetry/reading';
import type { CounterUnit, DeploymentCounters, GpuSettings } from './config.ts';
import type { Sample, Series } from './prometheus.ts';

/** The call that the counters are compared with; the times are in seconds since 1970, by our clock. */
export interface MeasuredCall {
  /** When the provider was asked. */
  readonly startS: number;
  readonly endS: number;
  /** Input and output tokens of the call. */
  readonly tokens: number;
  /** How many GPUs the deployment has; null if it is not stated. */
  readonly gpus: number | null;
}

/** The energy of a call, or why the counters do not give it. */
export type Measured = TelemetryReading | TelemetryRefusal;
type Rules = Pick<GpuSettings, 'marginS' | 'maxGapS'>;

const mjPer: Readonly<Record<CounterUnit, number>> = millijoulesIn;

/**
 * Returns the share of this call in the energy of its GPUs, by tokens: the formula is `readGpuCounters` of
 * `@gw/methodology`. Null if the samples do not cover the call, or do not yet; `counter_reset` if a counter fell.
 */
export function measureCall(
  call: MeasuredCall,
  { unit }: Pick<DeploymentCounters, 'unit'>,
  { energy, tokens }: { readonly energy: readonly Series[]; readonly tokens: readonly Series[] },
  rules: Rules,
): Measured | null {
  const window = windowOf(call, rules);
  const gpus = pairsOf(energy, gpuOf, window);
  const servers = pairsOf(tokens, seriesOf, window);
  if (gpus === null || servers === null || (call.gpus !== null && gpus.length !== call.gpus)) return null;
  const seen = [...gpus.map((pair) => seenAs(pair, unit)), ...servers.map((pair) => seenAs(pair, 'token'))];
  if ([...gpus, ...servers].some(({ fell }) => fell)) {
    return { source: 'gpu_counters', refused: 'counter_reset', raw: { seen } };
  }
  const at = (end: 'before' | 'after') =>
    Object.fromEntries(gpus.map((pair) => [pair.id, pair[end].value * mjPer[unit]]));
  return (
    readGpuCounters({
      before: { atS: Math.min(...gpus.map(({ before }) => before.atS)), energyMj: at('before') },
      after: { atS: Math.max(...gpus.map(({ after }) => after.atS)), energyMj: at('after') },
      callTokens: call.tokens,
      allTokens: servers.reduce((sum, { before, after }) => sum + (after.value - before.value), 0),
      seen: seen.slice(0, mostSeen),
    }) ?? null
  );
}

/** How many counters are stored with a receipt at most: 64 GPUs and as many token counters. */
const mostSeen = 128;

interface Window {
  /** The last sample has to lie between these two before the call, and the first between the other two after it. */
  readonly earliest: number;
  readonly start: number;
  readonly end: number;
  readonly latest: number;
}

/** Returns the window in which samples are needed, in seconds since 1970. */
export function windowOf({ startS, endS }: Pick<MeasuredCall, 'startS' | 'endS'>, { marginS, maxGapS }: Rules): Window {
  const [start, end] = [startS - marginS, endS + marginS];
  return { earliest: start - maxGapS, start, end, latest: end + maxGapS };
}

interface Pair {
  readonly id: string;
  readonly before: Sample;
  readonly after: Sample;
  /** Whether the counter went backwards in between, so that what it had counted before is lost. */
  readonly fell: boolean;
}

/**
 * One pair for each counter that has a sample in the window; null if there are none, or if one of them lacks a pair.
 * Several series can be of one counter: an exporter that runs twice, or labels that changed meanwhile. The counter is
 * counted once, by a series that covers the call alone if there is one, else by all of them together.
 */
function pairsOf(series: readonly Series[], idOf: (labels: Series['labels']) => string, window: Window): Pair[] | null {
  const counters = new Map<string, Sample[][]>();
  for (const { labels, samples } of series) {
    const inside = samples.filter(({ atS }) => atS >= window.earliest && atS <= window.latest);
    if (inside.length > 0) counters.set(idOf(labels), [...(counters.get(idOf(labels)) ?? []), inside]);
  }
  const pairs: Pair[] = [];
  for (const [id, single] of counters) {
    const together = single.flat().toSorted((a, b) => a.atS - b.atS || a.value - b.value);
    const found = [...single, together].flatMap((samples) => pairOf(id, samples, window) ?? []);
    const pair = found.find(({ fell }) => !fell) ?? found[0];
    if (pair === undefined) return null;
    pairs.push(pair);
  }
  return pairs.length === 0 ? null : pairs;
}

function pairOf(id: string, samples: readonly Sample[], { start, end }: Window): Pair | null {
  const from = samples.findLastIndex(({ atS }) => atS <= start);
  const to = samples.findIndex(({ atS }) => atS >= end);
  const [before, after] = [samples[from], samples[to]];
  if (before === undefined || after === undefined) return null;
  const between = samples.slice(from, to + 1);
  const fell = between.some(({ value }, index) => value < (between[index - 1]?.value ?? value));
  return { id, before, after, fell };
}

/** A GPU is known by its own id, which stays when labels of pods change; without one, by all labels. */
const gpuOf = (labels: Series['labels']): string => labels.UUID ?? labels.uuid ?? seriesOf(labels);

const seriesOf = ({ __name__ = '', ...labels }: Series['labels']): string =>
  `${__name__}{${Object.keys(labels)
    .toSorted()
    .map((name) => `${name}=${JSON.stringify(labels[name])}`)
    .join(',')}}`;

const longestId = 300;

const seenAs = ({ id, before, after }: Pair, unit: string): SeenCounter => ({
  series: id.slice(0, longestId).toWellFormed().replaceAll('\0', '\uFFFD'),
  unit,
  before: [before.atS, before.value],
  after: [after.atS, after.value],
});
