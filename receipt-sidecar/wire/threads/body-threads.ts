/** Opens the places where this process reads bodies, the event loop and the threads, with their bounds and metrics. */
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { counter, registering } from '@gw/service/metric';
import { Gauge, Histogram, type Registry } from 'prom-client';
import { LoopTurns } from './loop-turns.ts';
import { type Failure, ThreadPool, type ThreadPoolOptions } from './thread-pool.ts';
import { type TurnWatch, type TurnWatchOptions, watchTurns } from './turn-watch.ts';

const mib = 1024 * 1024;

/**
 * A body above this many bytes, or keys, strings, lists and objects, is read on a thread. A body of this size takes 1 to 3 ms on the main
 * thread, by its script; passing it to a thread and back costs a tenth of a millisecond.
 */
export const inlineBytes = 128 * 1024;
export const inlineParts = 2000;

/**
 * In a crowd a body above so many bytes is read on a thread, too. So many that wait for the event loop are one: fewer are read here before a
 * thread has started.
 */
export const crowdedBytes = 16 * 1024;
export const crowd = 8;

/** Small bodies that wait for the event loop. The burst of an Audit Plus account finds room, with bodies of up to 80 KiB. */
const small = { maxJobs: 4096, maxSize: 128 * mib, maxJobsOfAccount: 1024, maxSizeOfAccount: 64 * mib } as const;

/**
 * A turn is long enough for what a busy loop usually finds, and short enough that nobody notices. `waitMs` is well below Envoy's patience,
 * 5 s, so that the answer is ours.
 */
export const loopBounds = { bounds: small, turnMs: 3, waitMs: 3000 } as const;

/**
 * Sizes are in bytes. An ordinary batch of one account, 30 documents of 1 MiB, fits, and in a crowd the burst of an Audit Plus account, with bodies of up
 * to 40 KiB, which two threads read in time; requests that do not fit are refused at once.
 */
const requests = { maxJobs: 4096, maxSize: 64 * mib, maxJobsOfAccount: 1024, maxSizeOfAccount: 32 * mib } as const;
/** Sizes are in bytes. The largest reply has 64 MiB. If one does not fit, Envoy finishes the call with a degraded receipt. */
const replies = { maxJobs: 1024, maxSize: 256 * mib, maxJobsOfAccount: 256, maxSizeOfAccount: 192 * mib } as const;

/** An ordinary batch is read within `waitMs`, even on one thread; if all processors are busy, its last bodies are `late`. */
export const bodyThreadBounds = {
  bounds: { request: requests, reply: replies },
  waitMs: 10_000,
  answerMs: 10_000,
  idleMs: 30_000,
} as const;

/** How long Envoy has to wait for a body that is read on a thread, s: `waitMs`, `answerMs` and the later steps. */
export const bodyPatienceS = 25;

/** More threads gain little: bodies this large are rare, and each thread loads its own vocabularies. */
const mostThreads = 2;
/** It leaves one processor to the other calls: the priority of a thread only matters within this process. */
export const defaultThreads = (): number => Math.max(1, Math.min(mostThreads, availableParallelism() - 1));

/** Limits the memory of a thread, so that a runaway body ends its thread and not the process. */
export const resourceLimits = { maxOldGenerationSizeMb: 512 };
/** The bundle of the thread lies beside that of the service. */
const startThread = (): Worker => new Worker(new URL('./body-worker.js', import.meta.url), { resourceLimits });

/** Starts and ends a thread, because the first one of a process blocks its event loop for 10 ms or more, later ones for 1 or 2. */
export async function startFirstThread(): Promise<void> {
  const thread = startThread();
  await once(thread, 'online');
  await thread.terminate();
}

export interface BodyThreads {
  readonly pool: ThreadPool;
  readonly loop: LoopTurns;
  /** Whether each body of the last minute had its turn. */
  readonly inTime: TurnWatch['inTime'];
  register(registry: Registry): void;
}

const outcomes = ['done', 'full', 'late', 'stuck', 'died', 'failed'] as const satisfies readonly ('done' | Failure)[];
const lanes = ['request', 'reply'] as const;

export function openBodyThreads({
  log,
  ...options
}: Pick<ThreadPoolOptions, 'threads' | 'onError'> & Pick<TurnWatchOptions, 'log'>): BodyThreads {
  const clock = () => performance.now();
  const watch = watchTurns({
    log,
    clock,
    waiting: (place) => (place === 'loop' ? loop.waiting : pool.waiting('request')),
  });
  const ended = counter(
    'gw_large_bodies_total',
    'Bodies that were read on a thread or would have been, by what came of it',
    {
      lane: lanes,
      outcome: outcomes,
    },
  );
  const took = new Histogram({
    name: 'gw_large_body_seconds',
    help: 'How long a body was with the threads, its wait included',
    labelNames: ['lane'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20],
    registers: [],
  });
  const bytes = new Gauge({
    name: 'gw_large_bodies_bytes',
    help: 'Bytes of bodies that wait for a thread or are read on one',
    labelNames: ['lane'],
    registers: [],
    collect() {
      for (const lane of lanes) this.set({ lane }, pool.bytes(lane));
    },
  });
  const pool = new ThreadPool({
    ...bodyThreadBounds,
    start: startThread,
    clock,
    onEnd: (lane, outcome, seconds, account) => {
      ended.inc({ lane, outcome });
      took.observe({ lane }, seconds);
      if (lane === 'request' && (outcome === 'full' || outcome === 'late')) watch.hadNone('thread', outcome, account);
    },
    onTurn: (lane, seconds) => {
      if (lane === 'request') watch.had('thread', seconds);
    },
    ...options,
  });
  const loop = new LoopTurns({
    ...loopBounds,
    clock,
    afterEvents: (then) => void setImmediate(then),
    onEnd: (outcome, seconds, account) => {
      if (outcome === 'done') watch.had('loop', seconds);
      else watch.hadNone('loop', outcome, account);
    },
  });
  const registerThreads = registering(ended, took, bytes);
  return {
    pool,
    loop,
    inTime: watch.inTime,
    register: (registry) => {
      registerThreads(registry);
      watch.register(registry);
    },
  };
}
