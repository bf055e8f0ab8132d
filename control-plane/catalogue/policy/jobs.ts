/** What the control plane does by itself for the rules of screening, in every instance at once. */
import { dayMs, hourMs } from '@gw/contract/internal/durations';
import type { Context } from '../../shared/context.ts';
import { allJobs, type RepeatedJob, repeat } from '../../shared/repeat.ts';
import { openFindingsJob } from './findings-job.ts';
import { openFirstVersion } from './first-version.ts';

/** Longer than anything hands the same finding over again: a sidecar may have kept one through an outage. */
const rememberedMs = 35 * dayMs;

/** `consumer`: unique among all instances. */
export function startPolicyJobs(context: Context, consumer: string): RepeatedJob {
  const { db, log, now } = context;
  const jobs = [
    repeat({ name: 'first rules of screening', everyMs: 1000, log, run: openFirstVersion(context) }),
    repeat({ name: 'findings of screening', everyMs: 500, log, run: openFindingsJob({ ...context, consumer }) }),
    repeat({
      name: 'noted findings',
      everyMs: hourMs,
      log,
      run: async () => {
        const before = new Date(now().getTime() - rememberedMs);
        await db.$executeRaw`DELETE FROM policy_events WHERE written_at < ${before}`;
      },
    }),
  ];
  return allJobs(jobs);
}
