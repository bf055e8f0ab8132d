/**
 * How long the event loop is held by what it runs: while one turn computes, no other call goes on.
 *
 * Invariant: what counts is the processor time of the main thread, not the clock: on a machine that is shared, a thread that
 * only waits for a processor holds nothing, and waits as long as all others. Where the system does not tell it per thread,
 * it is the clock after all.
 */
import { openSync, readSync } from 'node:fs';
import { Histogram, type Registry } from 'prom-client';

/** Between two looks; so much at most is counted to a turn that others before it spent, or `longestPauseMs` after a rest. */
export const lookEveryMs = 5;

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

/**
 * What one look says, ms: the processor time since the look before. A turn that is shorter than the pause shows at most
 * as that; one that is longer shows whole, with what little came before it.
 */
export function makeLook({ processor, wall }: Clocks): () => number {
  let [wallBefore, processorBefore] = [wall(), processor()];
  return () => {
    const [wallNow, processorNow] = [wall(), processor()];
    const held = Math.min(wallNow - wallBefore, processorNow - processorBefore);
    [wallBefore, processorBefore] = [wallNow, processorNow];
    return Math.max(0, held);
  };
}

/** Below this a look has seen nothing, ms. */
const quietMs = 0.5;
/** Looks that see nothing follow each other more and more slowly: an idle service is to leave the processor alone. */
const longestPauseMs = 10;

export function watchEventLoop(registry: Registry): void {
  const held = new Histogram({
    name: 'gw_event_loop_held_seconds',
    help: `Processor time of the main thread between two looks, ${lookEveryMs} ms apart while it works: the longest turns`,
    buckets: [0.0025, 0.006, 0.01, 0.02, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
    registers: [registry],
  });
  const look = makeLook({ wall: () => performance.now(), processor: processorClock() });
  let pauseMs = lookEveryMs;
  const lookAgain = (): void => {
    setTimeout(() => {
      const heldMs = look();
      held.observe(heldMs / 1000);
      pauseMs = heldMs > quietMs ? lookEveryMs : Math.min(2 * pauseMs, longestPauseMs);
      lookAgain();
    }, pauseMs).unref();
  };
  lookAgain();
}
