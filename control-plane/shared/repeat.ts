/** A job that runs again and again, never twice at once in this process. An error ends one run, never the job. */
import type { Logger } from '@gw/service/log';

export interface RepeatedJob {
  /** Starts no further run. Resolves when the run that is under way has ended. */
  stop(): Promise<void>;
}

/** Combines several jobs into one that stops them all. */
export const allJobs = (jobs: readonly RepeatedJob[]): RepeatedJob => ({
  stop: async () => void (await Promise.all(jobs.map((job) => job.stop()))),
});

export interface RepeatOptions {
  readonly name: string;
  readonly everyMs: number;
  readonly log: Logger;
  readonly run: () => Promise<void>;
}

/**
 * Runs at once, then `everyMs` after the end of each run. Logs once when it begins to fail, and once when it recovers.
 */
export function repeat({ name, everyMs, log, run }: RepeatOptions): RepeatedJob {
  let stopped = false;
  let failing = false;
  let timer: NodeJS.Timeout | undefined;
  const once = async (): Promise<void> => {
    try {
      await run();
      if (failing) log.info({ job: name }, 'the job succeeds again');
      failing = false;
    } catch (error) {
      if (!failing && !stopped) log.warn({ job: name, err: error }, 'the job fails and will be tried again');
      failing = true;
    }
    if (!stopped)
      timer = setTimeout(() => {
        current = once();
      }, everyMs);
  };
  let current = once();
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      return current;
    },
  };
}
