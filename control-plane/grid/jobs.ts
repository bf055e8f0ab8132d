/**
 * Asks the grid sources again and again, by BullMQ: across all instances each zone is asked once in an interval, and a
 * failed attempt is repeated with growing pauses.
 *
 * Invariant: the schedule is in Redis and may be lost with it, so it is looked after here and made again within
 * `tendEveryMs`; what is scheduled but no longer configured is taken out.
 */
import type { EventEmitter } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '@gw/service/log';
import type { Job, JobSchedulerTemplateOptions, Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { type RepeatedJob, repeat } from '../repeat.ts';
import type { ZoneSource } from './config.ts';
import type { Span } from './reading.ts';
import type { Refresh } from './refresh.ts';

/** The hash tag keeps all keys of the queue on one node of a cluster. */
const prefix = '{gw}';
const queueName = 'grid';
const dayEveryMs = 3_600_000;
const tendEveryMs = 30_000;
const concurrency = 2;

const template: JobSchedulerTemplateOptions = {
  attempts: 4,
  backoff: { type: 'exponential', delay: 10_000, jitter: 0.5 },
  removeOnComplete: true,
  removeOnFail: { count: 100 },
};

interface JobData {
  readonly zoneSource: ZoneSource;
  readonly span: Span;
}

export interface GridJobsOptions {
  readonly redisUrl: string;
  readonly sources: readonly ZoneSource[];
  readonly refreshMs: number;
  readonly refresh: Refresh;
  readonly log: Logger;
  /** Of the first repetition of a failed attempt, ms. */
  readonly backoffMs?: number;
  readonly tendEveryMs?: number;
}

export async function startGridJobs(options: GridJobsOptions): Promise<RepeatedJob> {
  const { redisUrl, log } = options;
  // Loaded here, so that a gateway without live sources does not pay its memory.
  const { Queue, UnrecoverableError, Worker } = await import('bullmq');
  // BullMQ waits inside Redis and wants its commands never to be given up; so its connections are its own.
  const connect = (): Redis =>
    new Redis(redisUrl, { maxRetriesPerRequest: null, retryStrategy: (attempt) => Math.min(50 * attempt, 1000) });
  const [queueRedis, workerRedis] = [connect(), connect()];
  const queue = new Queue<JobData>(queueName, { connection: queueRedis, prefix });
  const worker = new Worker<JobData>(queueName, (job) => run(job, options, UnrecoverableError), {
    connection: workerRedis,
    prefix,
    concurrency,
  });
  // Redis being away is told by the service's own connection; without listeners the faults would end the process.
  const emitters: readonly EventEmitter[] = [queueRedis, workerRedis, queue, worker];
  for (const emitter of emitters) emitter.on('error', () => {});
  const tending = repeat({
    name: 'grid schedule',
    everyMs: options.tendEveryMs ?? tendEveryMs,
    log,
    run: () => tendSchedule(queue, options),
  });
  return {
    stop: async () => {
      // Commands wait for Redis without end, so an orderly close would too.
      const orderly = queueRedis.status === 'ready' && workerRedis.status === 'ready';
      if (orderly) await Promise.all([worker.close(), tending.stop()]);
      else void Promise.all([worker.close(true), tending.stop()]).catch(() => {});
      if (orderly) await queue.close();
      queueRedis.disconnect();
      workerRedis.disconnect();
    },
  };
}

async function run(
  job: Job<JobData>,
  { sources, refresh }: GridJobsOptions,
  UnrecoverableError: new (message: string) => Error,
): Promise<void> {
  const { zoneSource, span } = job.data;
  // Left from another configuration.
  if (!sources.some((each) => isDeepStrictEqual(each, zoneSource))) return;
  const outcome = await refresh(zoneSource, span);
  if (!('refused' in outcome)) return;
  const { refused, detail } = outcome;
  // These are not mended by asking again soon, and the pause that they began has to pass.
  const Fault = refused === 'unauthorized' || refused === 'rate_limited' ? UnrecoverableError : Error;
  throw new Fault(`${zoneSource.source} for ${zoneSource.zone}: ${refused}, ${detail}`);
}

const spans: readonly Span[] = ['latest', 'day'];

async function tendSchedule(queue: Queue<JobData>, { sources, refreshMs, backoffMs }: GridJobsOptions): Promise<void> {
  const wanted = new Map<string, { readonly every: number; readonly data: JobData }>();
  for (const zoneSource of sources) {
    for (const span of spans) {
      const { zone, source, place } = zoneSource;
      const every = span === 'latest' ? refreshMs : Math.max(dayEveryMs, refreshMs);
      wanted.set([zone, source, place, span].join('/'), { every, data: { zoneSource, span } });
    }
  }
  const there = await queue.getJobSchedulers(0, -1);
  for (const { key } of there) if (!wanted.has(key)) await queue.removeJobScheduler(key);
  const opts = backoffMs === undefined ? template : { ...template, backoff: { type: 'exponential', delay: backoffMs } };
  for (const [key, { every, data }] of wanted) {
    // Writing an unchanged schedule again would start it afresh.
    if (there.some((each) => each.key === key && Number(each.every) === every)) continue;
    await queue.upsertJobScheduler(key, { every }, { name: 'refresh', data, opts });
  }
}
