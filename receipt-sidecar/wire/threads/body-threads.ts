/** Opens the threads on which this process reads large bodies, with their bounds and metrics. */
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { counter, registering } from '@gw/service/metric';
import { Gauge, Histogram, type Registry } from 'prom-client';
import { type Failure, ThreadPool, type ThreadPoolOptions } from './thread-pool.ts';

const mib = 1024 * 1024;

/**
 * A body above this many bytes, or keys, strings, lists and objects, is read on a thread. A body of this size takes about 5 ms on the main
 * thread at worst; passing it to a thread and back costs a tenth of a millisecond.
 */
export const inlineBytes = 128 * 1024;
export const inlineParts = 2000;

/** Sizes are in bytes. An ordinary batch of one account, 30 documents of 1 MiB, fits; requests that do not fit are refused at once. */
const requests = { maxJobs: 1024, maxSize: 64 * mib, maxJobsOfAccount: 256, maxSizeOfAccount: 32 * mib } as const;
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
  register(registry: Registry): void;
}

const outcomes = ['done', 'full', 'late', 'stuck', 'died', 'failed'] as const satisfies readonly ('done' | Failure)[];
const lanes = ['request', 'reply'] as const;

export function openBodyThreads(
  options: Pick<ThreadPoolOptions, 'threads' | 'onError'> & Partial<ThreadPoolOptions>,
): BodyThreads {
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
    clock: () => performance.now(),
    onEnd: (lane, outcome, seconds) => {
      ended.inc({ lane, outcome });
      took.observe({ lane }, seconds);
    },
    ...options,
  });
  return {
    pool,
    register: registering(ended, took, bytes),
  };
}
