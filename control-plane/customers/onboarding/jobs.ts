/**
 * Has applications screened, by BullMQ: one job for each application that waits for it, and for each account that was
 * renamed since, repeated with growing pauses until it succeeds, by one instance at a time.
 *
 * Invariant: Postgres says what is to be screened. Redis holds the attempts alone and may be lost: every application
 * that waits is looked up again within `tendEveryMs` and gets a job if it has none.
 */
import type { Queue } from 'bullmq';
import type { Context } from '../../shared/context.ts';
import { type OpenQueue, openQueue } from '../../shared/queue.ts';
import { type RepeatedJob, repeat } from '../../shared/repeat.ts';
import { findRenamed, findUnscreened } from './application.ts';
import { type ScreeningRunOptions, screenApplication } from './screening-run.ts';
import type { Onboarding } from './steps.ts';

const queueName = 'screening';
const tendEveryMs = 2000;
const renamedEveryMs = 30_000;
const expireEveryMs = 60_000;
const mostAtOnce = 100;
const attempts = 5;
const firstPauseMs = 15_000;

export interface OnboardingJobsOptions extends Omit<ScreeningRunOptions, 'onboarding'>, Pick<Context, 'log'> {
  readonly redisUrl: string;
  readonly onboarding: Onboarding;
  /** Tests set these pauses, and `stalledMs`, after which another instance takes over the job of a dead one. */
  readonly firstPauseMs?: number;
  readonly tendEveryMs?: number;
  readonly renamedEveryMs?: number;
  readonly stalledMs?: number;
}

interface JobData {
  readonly accountId: string;
}

/** Starts the jobs. The queue is opened only when there is something to screen. */
export function startOnboardingJobs(options: OnboardingJobsOptions): RepeatedJob {
  const { db, log, onboarding } = options;
  let opening: Promise<OpenQueue<JobData>> | null = null;
  const screenThose = async (accountIds: readonly string[]): Promise<void> => {
    if (accountIds.length === 0) return;
    // Opened with the first application, so that a gateway without any does not pay the queue's memory.
    opening ??= open(options);
    const { queue } = await opening;
    for (const accountId of accountIds) await add(queue, accountId, options.firstPauseMs ?? firstPauseMs);
  };
  const tending = repeat({
    name: 'screening of applications',
    everyMs: options.tendEveryMs ?? tendEveryMs,
    log,
    run: async () => screenThose(await findUnscreened(db, mostAtOnce)),
  });
  const renamed = repeat({
    name: 'screening of accounts that were renamed',
    everyMs: options.renamedEveryMs ?? renamedEveryMs,
    log,
    run: async () => screenThose(await findRenamed(db, mostAtOnce)),
  });
  const expiry = repeat({
    name: 'expiry of applications',
    everyMs: expireEveryMs,
    log,
    run: async () => {
      const expired = await onboarding.expireIdle();
      if (expired > 0) log.info({ expired }, 'idle applications have expired');
    },
  });
  return {
    stop: async () => {
      const open = await opening;
      // Commands wait for Redis without end; closing the queue lets them go.
      await Promise.all([open?.close(), tending.stop(), renamed.stop(), expiry.stop()]);
    },
  };
}

async function open(options: OnboardingJobsOptions): Promise<OpenQueue<JobData>> {
  const lockMs = options.stalledMs ?? 30_000;
  const opened = await openQueue<JobData>({
    name: queueName,
    redisUrl: options.redisUrl,
    // One list at a time bounds the memory.
    worker: { concurrency: 1, lockDuration: lockMs, stalledInterval: lockMs },
    run: ({ data }) => screenApplication(data.accountId, options),
  });
  opened.worker.on('failed', (job, error) =>
    options.log.warn({ account: job?.data.accountId, err: error }, 'an application could not be screened'),
  );
  return opened;
}

/**
 * The id makes a second job for the same application impossible; a job that has ended leaves, so that the next look at
 * Postgres can make a new one.
 */
async function add(queue: Queue, accountId: string, pauseMs: number): Promise<void> {
  const backoff = { type: 'exponential', delay: pauseMs, jitter: 0.5 };
  const job = { jobId: accountId, attempts, backoff, removeOnComplete: true, removeOnFail: true };
  await queue.add('screen', { accountId }, job);
}
