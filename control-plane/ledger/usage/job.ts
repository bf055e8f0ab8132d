/** The job that sums usage ahead of questions, and checks what it has summed. */
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import { type RepeatedJob, repeat } from '../../shared/repeat.ts';
import { checkADay, daysAtOnce, sumDays } from './days.ts';
import { checkAnHour, findMissingHours, hoursAtOnce, sumHours } from './hours.ts';

const everyMs = 30_000;

export function startUsageSums(context: { readonly db: Database; readonly log: Logger }): RepeatedJob {
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    await sumUsage(context.db, stopping.signal);
    await checkAnHour(context);
    await findMissingHours(context);
    await checkADay(context);
  };
  const job = repeat({ name: 'sums of usage', everyMs, log: context.log, run });
  return {
    stop: () => {
      stopping.abort();
      return job.stop();
    },
  };
}

/** Sums everything that is over: the hours first, since the days are made of them. */
export async function sumUsage(db: Database, signal?: AbortSignal): Promise<void> {
  while (signal?.aborted !== true && (await sumHours(db)) === hoursAtOnce);
  while (signal?.aborted !== true && (await sumDays(db)) === daysAtOnce);
}
