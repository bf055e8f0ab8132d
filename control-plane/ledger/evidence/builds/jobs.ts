/**
 * Hands packs to BullMQ, so that one instance at a time builds each of them.
 *
 * Invariant: Postgres decides which packs have to be built. Redis may lose its data: every pack that waits, or whose builder died, is found
 * within `tendEveryMs` and gets a job if it has none.
 */
import type { Queue } from 'bullmq';
import { type OpenQueue, openQueue } from '../../../shared/queue.ts';
import { type RepeatedJob, repeat } from '../../../shared/repeat.ts';
import { removeEnded } from '../chunks.ts';
import { claimPack, expirePacks, waitingPacks } from '../packs.ts';
import { type BuildOptions, buildPack } from './build.ts';

const queueName = 'evidence';
const expireEveryMs = 60_000;

export interface EvidenceJobsOptions extends BuildOptions {
  readonly redisUrl: string;
  /** How many packs this instance builds at a time. */
  readonly concurrency: number;
  readonly tendEveryMs?: number;
}

interface JobData {
  readonly id: string;
}

/** Starts the jobs. The queue is opened only when there is something to build. */
export function startEvidenceJobs(options: EvidenceJobsOptions): RepeatedJob {
  const { db, log, objects } = options;
  const ending = new AbortController();
  let opening: Promise<OpenQueue<JobData>> | null = null;
  const tending = repeat({
    name: 'evidence packs',
    everyMs: options.tendEveryMs ?? 1000,
    log,
    run: async () => {
      const waiting = await waitingPacks(db);
      if (waiting.length === 0) return;
      // The queue is opened for the first pack, so that a gateway without packs does not need the memory.
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
      await removeEnded(db, objects, { signal: ending.signal });
    },
  });
  return {
    stop: async () => {
      // Another instance takes over the packs that are being built here.
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

/** A try has one job, so a try that is in the queue already is not added again. */
const add = (queue: Queue<JobData>, id: string, tries: number): Promise<unknown> =>
  queue.add('build', { id }, { jobId: `${id}-${tries}`, removeOnComplete: true, removeOnFail: true });
