/**
 * Energy counters of self-hosted GPUs (NVML's total energy consumption, DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION, both in
 * mJ since the driver was loaded), assigned to a call by its share of the tokens of the interval.
 *
 * Invariant: only accelerators are counted, and the interval is stated. A counter that went backwards or vanished between
 * the samples gives no reading, since what was used before the reset is lost.
 */
import { boundedCopy, own, readingOf, refusal, type TelemetryReading, type TelemetryResult } from './reading.ts';

export interface CounterSample {
  /** Seconds since 1970. */
  readonly atS: number;
  /** GPU → mJ. The same GPUs in both samples. */
  readonly energyMj: Readonly<Record<string, number>>;
}

/** One counter as it was read, kept with the reading, so that an auditor can look it up at its source. */
export interface SeenCounter {
  readonly series: string;
  readonly unit: string;
  /** Seconds since 1970, and the value. */
  readonly before: readonly [number, number];
  readonly after: readonly [number, number];
}

/** Millijoules in each unit that counters are read in. */
export const millijoulesIn = { mJ: 1, J: 1000, Wh: 3_600_000, kWh: 3_600_000_000 } as const;

export interface CountedInterval {
  readonly before: CounterSample;
  readonly after: CounterSample;
  /** Tokens, input and output, of this call and of all calls on these GPUs between the samples. */
  readonly callTokens: number;
  readonly allTokens: number;
  /** Absent: the samples above are what was seen. */
  readonly seen?: readonly SeenCounter[];
}

export function readGpuCounters(interval: CountedInterval): TelemetryResult {
  const { after, allTokens, before, callTokens, seen } = interval;
  // Our own reader produced what was seen, and bounds it.
  const raw = seen ? { callTokens, allTokens, seen } : boundedCopy({ before, after, callTokens, allTokens });
  const refuse = refusal('gpu_counters', raw);
  const intervalS = Number(own(after, 'atS')) - Number(own(before, 'atS'));
  if (!(intervalS > 0) || !Number.isFinite(intervalS)) return refuse('no_interval');
  if (!isCount(callTokens) || !isCount(allTokens) || allTokens === 0 || callTokens > allTokens) {
    return refuse('no_token_share');
  }
  const usedMj = increase(own(before, 'energyMj'), own(after, 'energyMj'));
  if (usedMj === null) return refuse('counter_reset');
  return readingOf(about(intervalS, raw), {
    field: 'increase of the energy counters',
    value: usedMj,
    unit: 'mJ',
    tokens: { call: callTokens, all: allTokens },
    range: null,
  });
}

const about = (intervalS: number, raw: unknown): Omit<TelemetryReading, 'energyWh' | 'stated'> => ({
  source: 'gpu_counters',
  includesPue: false,
  scope: 'accelerator',
  durationS: null,
  attribution: 'share of the tokens in the interval',
  intervalS,
  raw,
});

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/** Null if the samples do not hold the same GPUs, none, or a counter that went backwards. */
function increase(before: unknown, after: unknown): number | null {
  if (typeof before !== 'object' || before === null || typeof after !== 'object' || after === null) return null;
  const gpus = Object.keys(before);
  if (gpus.length === 0 || gpus.length !== Object.keys(after).length) return null;
  let sum = 0;
  for (const gpu of gpus) {
    const [from, to] = [own(before, gpu), own(after, gpu)];
    if (typeof from !== 'number' || typeof to !== 'number' || !(from >= 0) || !(to >= from)) return null;
    sum += to - from;
  }
  return sum;
}
