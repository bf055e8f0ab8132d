/** The jobs that sum usage ahead of questions, and check what they have summed. */
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import { allJobs, type RepeatedJob, repeat } from '../../shared/repeat.ts';
import { checkLevel, days, hours, sumLevel } from './levels.ts';
import { changesAtOnce, checkAMinute, findMissingHours, sumMinutes } from './minutes.ts';

/** Questions read what came meanwhile, up to a row per receipt where few are alike. */
const minutesEveryMs = 5000;
export const checkEveryMs = 30_000;
/** After that it checks, even if more is left to sum, as after a migration. */
const longestMs = 60_000;

export function startUsageSums(context: { readonly db: Database; readonly log: Logger }): RepeatedJob {
  const { db, log } = context;
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    await sumUsage(db, AbortSignal.any([stopping.signal, AbortSignal.timeout(longestMs)]));
    await checkAMinute(context);
    await checkLevel(context, hours);
    await findMissingHours(context);
    await checkLevel(context, days);
  };
  const jobs = allJobs([
    repeat({
      name: 'sums of minutes',
      everyMs: minutesEveryMs,
      log,
      run: () => sumAllMinutes(db, () => !stopping.signal.aborted),
    }),
    repeat({ name: 'sums of usage', everyMs: checkEveryMs, log, run }),
  ]);
  return {
    stop: () => {
      stopping.abort();
      return jobs.stop();
    },
  };
}

async function sumAllMinutes(db: Database, goesOn: () => boolean): Promise<void> {
  while ((await sumMinutes(db)) === changesAtOnce && goesOn());
}

/** Sums everything that is over. The hours come before each lot of days, since days are made of them and are many after a migration. */
export async function sumUsage(db: Database, signal?: AbortSignal): Promise<void> {
  const goesOn = (): boolean => signal?.aborted !== true;
  await sumAllMinutes(db, goesOn);
  for (let summed = days.atOnce; summed === days.atOnce && goesOn(); summed = await sumLevel(db, days))
    while ((await sumLevel(db, hours)) === hours.atOnce && goesOn());
}
