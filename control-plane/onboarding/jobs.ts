/**
 * Has applications screened, by BullMQ: one job for each application that waits for it, repeated with growing pauses
 * until it succeeds, by one instance at a time.
 *
 * Invariant: Postgres says what is to be screened. Redis holds the attempts alone and may be lost: every application
 * that waits is looked up again within `tendEveryMs` and gets a job if it has none.
 */
import type { EventEmitter } from 'node:events';
import type { Context } from '../context.ts';
import { messageOf, type RepeatedJob, repeat } from '../repeat.ts';
import { findUnscreened } from './application.ts';
import { type ScreeningRunOptions, screenApplication } from './screening-run.ts';
import type { Onboarding } from './steps.ts';

/** The hash tag keeps all keys of the queue on one node of a cluster. */
const prefix = '{gw}';
const queueName = 'screening';
const tendEveryMs = 2000;
const expireEveryMs = 60_000;
const mostAtOnce = 100;
const attempts = 5;
const firstPauseMs = 15_000;

export interface OnboardingJobsOptions extends Omit<ScreeningRunOptions, 'onboarding'>, Pick<Context, 'log'> {
  readonly redisUrl: string;
  readonly onboarding: Onboarding;
  /** For tests: pauses and the time after which the job of a dead instance is taken up, ms. */
  readonly firstPauseMs?: number;
  readonly tendEveryMs?: number;
  readonly stalledMs?: number;
}

interface Queueing {
  add(accountId: string): Promise<void>;
  stop(): Promise<void>;
}

export function startOnboardingJobs(options: OnboardingJobsOptions): RepeatedJob {
  const { db, log, onboarding } = options;
  let queueing: Promise<Queueing> | null = null;
  const tending = repeat({
    name: 'screening of applications',
    everyMs: options.tendEveryMs ?? tendEveryMs,
    log,
    run: async () => {
      const waiting = await findUnscreened(db, mostAtOnce);
      if (waiting.length === 0) return;
      // Opened with the first application, so that a gateway without any does not pay the queue's memory.
      queueing ??= openQueue(options);
      const queue = await queueing;
      for (const accountId of waiting) await queue.add(accountId);
    },
  });
  const expiry = repeat({
    name: 'expiry of applications',
    everyMs: expireEveryMs,
    log,
    run: async () => {
      const expired = await onboarding.expireIdle();
      if (expired > 0) log.info({ expired }, 'applications that nobody carried on have expired');
    },
  });
  return {
    stop: async () => {
      const queue = await queueing;
      // Commands wait for Redis without end; closing the queue lets them go.
      await Promise.all([queue?.stop(), tending.stop(), expiry.stop()]);
    },
  };
}

async function openQueue(options: OnboardingJobsOptions): Promise<Queueing> {
  const { log, redisUrl } = options;
  const [{ Queue, Worker }, { Redis }] = await Promise.all([import('bullmq'), import('ioredis')]);
  // BullMQ waits inside Redis and wants its commands never to be given up; so its connections are its own.
  const connect = () =>
    new Redis(redisUrl, { maxRetriesPerRequest: null, retryStrategy: (attempt) => Math.min(50 * attempt, 1000) });
  const [queueRedis, workerRedis] = [connect(), connect()];
  const queue = new Queue(queueName, { connection: queueRedis, prefix });
  const lockMs = options.stalledMs ?? 30_000;
  const worker = new Worker<{ accountId: string }>(
    queueName,
    ({ data }) => screenApplication(data.accountId, options),
    {
      connection: workerRedis,
      prefix,
      // One list at a time bounds the memory.
      concurrency: 1,
      lockDuration: lockMs,
      stalledInterval: lockMs,
    },
  );
  worker.on('failed', (job, fault) =>
    log.warn({ account: job?.data.accountId, fault: messageOf(fault) }, 'an application could not be screened'),
  );
  // Redis being away is told by the service's own connection; without listeners the faults would end the process.
  const emitters: readonly EventEmitter[] = [queueRedis, workerRedis, queue, worker];
  for (const emitter of emitters) emitter.on('error', () => {});
  const backoff = { type: 'exponential', delay: options.firstPauseMs ?? firstPauseMs, jitter: 0.5 };
  return {
    // The id makes a second job for the same application impossible; a job that has ended leaves, so that the next look
    // at Postgres can make a new one.
    add: async (accountId) =>
      void (await queue.add(
        'screen',
        { accountId },
        {
          jobId: accountId,
          attempts,
          backoff,
          removeOnComplete: true,
          removeOnFail: true,
        },
      )),
    stop: async () => {
      const orderly = queueRedis.status === 'ready' && workerRedis.status === 'ready';
      if (orderly) await worker.close();
      else void worker.close(true).catch(() => {});
      if (orderly) await queue.close();
      queueRedis.disconnect();
      workerRedis.disconnect();
    },
  };
}
