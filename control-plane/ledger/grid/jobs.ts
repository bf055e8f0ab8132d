/**
 * Asks the grid sources again and again, by BullMQ: across all instances each zone is asked once in an interval, and a
 * failed attempt is repeated with growing pauses.
 *
 * Invariant: the schedule is in Redis and may be lost with it, so it is looked after here and made again within
 * `tendEveryMs`; what is scheduled but no longer configured is taken out.
 */
import { isDeepStrictEqual } from 'node:util';
import { hourMs } from '@gw/contract/internal/durations';
import type { Logger } from '@gw/service/log';
import type { Job, JobSchedulerTemplateOptions, Queue } from 'bullmq';
import { openQueue } from '../../shared/queue.ts';
import { type RepeatedJob, repeat } from '../../shared/repeat.ts';
import type { ZoneSource } from './config.ts';
import type { Span } from './reading.ts';
import type { Refresh } from './refresh.ts';

const queueName = 'grid';
const dayEveryMs = hourMs;
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
  /** How long after a failed attempt the first repetition comes. */
  readonly backoffMs?: number;
  readonly tendEveryMs?: number;
}

/** Starts the queue and keeps its schedule. It resolves even if Redis is away. */
export async function startGridJobs(options: GridJobsOptions): Promise<RepeatedJob> {
  const { redisUrl, log } = options;
  const { UnrecoverableError } = await import('bullmq');
  const { queue, close } = await openQueue<JobData>({
    name: queueName,
    redisUrl,
    worker: { concurrency },
    run: (job) => run(job, options, UnrecoverableError),
  });
  const tending = repeat({
    name: 'grid schedule',
    everyMs: options.tendEveryMs ?? tendEveryMs,
    log,
    run: () => tendSchedule(queue, options),
  });
  // A look at the schedule may wait for Redis without end; closing the queue lets it go.
  return { stop: async () => void (await Promise.all([close(), tending.stop()])) };
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
  const RefusalError = refused === 'unauthorized' || refused === 'rate_limited' ? UnrecoverableError : Error;
  throw new RefusalError(`${zoneSource.source} for ${zoneSource.zone}: ${refused}, ${detail}`);
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
