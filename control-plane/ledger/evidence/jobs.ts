/**
 * Has long packs built, by BullMQ: each by one instance at a time.
 *
 * Invariant: Postgres says what is to be built. Redis may be lost: every pack that waits, or whose builder died, is looked up again
 * within `tendEveryMs` and gets a job if it has none.
 */
import type { Queue } from 'bullmq';
import { type OpenQueue, openQueue } from '../../shared/queue.ts';
import { type RepeatedJob, repeat } from '../../shared/repeat.ts';
import { type BuildOptions, buildPack } from './build.ts';
import { claimPack, expirePacks, waitingPacks } from './packs.ts';

const queueName = 'evidence';
const expireEveryMs = 60_000;

export interface EvidenceJobsOptions extends BuildOptions {
  readonly redisUrl: string;
  /** Packs that this instance builds at once. */
  readonly concurrency: number;
  readonly tendEveryMs?: number;
}

interface JobData {
  readonly id: string;
}

/** Starts the jobs. The queue is opened only when there is something to build. */
export function startEvidenceJobs(options: EvidenceJobsOptions): RepeatedJob {
  const { db, log } = options;
  const ending = new AbortController();
  let opening: Promise<OpenQueue<JobData>> | null = null;
  const tending = repeat({
    name: 'evidence packs',
    everyMs: options.tendEveryMs ?? 1000,
    log,
    run: async () => {
      const waiting = await waitingPacks(db);
      if (waiting.length === 0) return;
      // Opened with the first pack, so that a gateway without any does not pay the queue's memory.
      opening ??= open(options, ending.signal);
      const { queue } = await opening;
      for (const { id, try: tries } of waiting) await add(queue, id, tries);
    },
  });
  const expiry = repeat({
    name: 'expiry of evidence packs',
    everyMs: expireEveryMs,
    log,
    run: async () => {
      const expired = await expirePacks(db);
      if (expired > 0) log.info({ expired }, 'evidence packs have expired');
    },
  });
  return {
    stop: async () => {
      // Another instance begins what is under way here.
      ending.abort();
      const queue = await opening;
      await Promise.all([queue?.close(), tending.stop(), expiry.stop()]);
    },
  };
}

const open = (options: EvidenceJobsOptions, signal: AbortSignal): Promise<OpenQueue<JobData>> =>
  openQueue<JobData>({
    name: queueName,
    redisUrl: options.redisUrl,
    worker: { concurrency: options.concurrency },
    run: async ({ data }) => {
      const pack = signal.aborted ? null : await claimPack(options.db, data.id);
      if (pack !== null) await buildPack(options, pack, signal);
    },
  });

/** A try has one job: what is in the queue already is not added again. */
const add = (queue: Queue<JobData>, id: string, tries: number): Promise<unknown> =>
  queue.add('build', { id }, { jobId: `${id}-${tries}`, removeOnComplete: true, removeOnFail: true });
