/**
 * How long the event loop is held by what it runs: while one turn computes, no other call goes on.
 *
 * Invariant: what counts is the processor time of the main thread, not the clock: on a machine that is shared, a thread that
 * only waits for a processor holds nothing, and waits as long as all others. Where the system does not tell it per thread,
 * it is the clock after all.
 */
import { openSync, readSync } from 'node:fs';
import { Histogram, type Registry } from 'prom-client';

/** Processor time of the thread that asks so far, ms. */
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

/** Between two looks while the loop works; so much at most of other turns is counted to the one that a look finds, ms. */
export const lookEveryMs = 5;
/** Looks that see next to nothing follow each other more and more slowly, since each wakes a processor up, ms. */
const longestRestMs = 100;
/** Pauses up to this one are so short that what others spent in them does not matter, ms. */
const shortPauseMs = 10;

/**
 * What one look says after a pause of `pauseMs`, ms: the processor time since the look before. A turn that is shorter than
 * the pause shows at most as that; one that is longer shows whole, with what little came before it. After a rest it is the
 * time by which the look came late, if that is less, since many short turns are no long one: the first turn after a rest may
 * show as less than it was.
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

/** The pause to the next look: a service that does nothing is to leave the processor alone. */
export function nextPause(pauseMs: number, usedMs: number): number {
  const atRestMs = 1 + 0.05 * pauseMs;
  return usedMs > atRestMs ? lookEveryMs : Math.min(2 * pauseMs, longestRestMs);
}

let held: Histogram | null = null;

/** Shows in `registry` how long the loop of this process is held; it is watched once, however many ask. */
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
