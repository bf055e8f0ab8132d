/**
 * Measures how long single turns block the event loop.
 *
 * Invariant: it counts processor time of the main thread and not wall time, because on a shared machine a thread that waits for a
 * processor blocks nothing itself. Systems without processor time per thread use wall time.
 */
import { openSync, readSync } from 'node:fs';
import { Histogram, type Registry } from 'prom-client';

/** Returns a clock for the processor time of the calling thread, ms. */
function processorClock(): () => number {
  const clock = () => performance.now();
  try {
    const file = openSync('/proc/thread-self/schedstat', 'r');
    const bytes = Buffer.alloc(64);
    const read = () =>
      Number.parseInt(bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0)), 10) / 1e6;
    return Number.isFinite(read()) ? read : clock;
  } catch {
    return clock;
  }
}

export interface Clocks {
  /** Monotonic, ms. */
  readonly wall: () => number;
  readonly processor: () => number;
}

/** Interval between samples of a busy loop, ms, and so the most time of other turns that a sample includes. */
export const lookEveryMs = 5;
/** The longest interval, ms, of an idle loop, since each sample wakes up a processor. */
const longestRestMs = 100;
/** During intervals up to this one, ms, the time of other turns is negligible. */
const shortPauseMs = 10;

/**
 * Returns a function that samples after a pause of `pauseMs`, ms. `usedMs` is the processor time since the previous sample. `heldMs`
 * estimates the longest turn: after a short pause it is `usedMs`; after a long one it is limited to the delay of the sample, since
 * many short turns are not a long one, so the first turn after a rest may be underestimated.
 */
export function makeLook({ processor, wall }: Clocks): (pauseMs: number) => { heldMs: number; usedMs: number } {
  let [wallBefore, processorBefore] = [wall(), processor()];
  return (pauseMs) => {
    const [wallNow, processorNow] = [wall(), processor()];
    const passedMs = wallNow - wallBefore;
    const usedMs = Math.max(0, processorNow - processorBefore);
    [wallBefore, processorBefore] = [wallNow, processorNow];
    const mostMs = pauseMs <= shortPauseMs ? passedMs : passedMs - pauseMs;
    return { heldMs: Math.max(0, Math.min(mostMs, usedMs)), usedMs };
  };
}

/** Returns the pause to the next sample. It grows while the service is idle. */
export function nextPause(pauseMs: number, usedMs: number): number {
  const atRestMs = 1 + 0.05 * pauseMs;
  return usedMs > atRestMs ? lookEveryMs : Math.min(2 * pauseMs, longestRestMs);
}

let held: Histogram | null = null;

/** Adds the histogram to `registry`. The process samples only once for all registries. */
export function watchEventLoop(registry: Registry): void {
  held ??= watch();
  registry.registerMetric(held);
}

function watch(): Histogram {
  const histogram = new Histogram({
    name: 'gw_event_loop_held_seconds',
    help: `Processor time of the main thread between two looks, ${lookEveryMs} ms apart while it works: the longest turns`,
    buckets: [0.0025, 0.006, 0.01, 0.02, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
    registers: [],
  });
  const look = makeLook({ wall: () => performance.now(), processor: processorClock() });
  const lookAfter = (pauseMs: number): void => {
    setTimeout(() => {
      const { heldMs, usedMs } = look(pauseMs);
      histogram.observe(heldMs / 1000);
      lookAfter(nextPause(pauseMs, usedMs));
    }, pauseMs).unref();
  };
  lookAfter(lookEveryMs);
  return histogram;
}
