/** The job that sums usage ahead of questions, and checks what it has summed. */
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import { type RepeatedJob, repeat } from '../../shared/repeat.ts';
import { checkADay, daysAtOnce, sumDays } from './days.ts';
import { checkAnHour, findMissingHours, hoursAtOnce, sumHours } from './hours.ts';

const everyMs = 30_000;
/** After that it checks, even if more is left to sum, as after a migration. */
const longestMs = 60_000;

export function startUsageSums(context: { readonly db: Database; readonly log: Logger }): RepeatedJob {
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    await sumUsage(context.db, AbortSignal.any([stopping.signal, AbortSignal.timeout(longestMs)]));
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

/** Sums everything that is over. The hours come before each lot of days, since days are made of them and are many after a migration. */
export async function sumUsage(db: Database, signal?: AbortSignal): Promise<void> {
  const goesOn = (): boolean => signal?.aborted !== true;
  for (let days = daysAtOnce; days === daysAtOnce && goesOn(); days = await sumDays(db))
    while ((await sumHours(db)) === hoursAtOnce && goesOn());
}
