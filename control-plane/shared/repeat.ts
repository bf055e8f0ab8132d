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

interface StartOptions extends Pick<RepeatOptions, 'log' | 'name'> {
  /** Asked again each second. */
  readonly may: () => boolean;
  readonly start: () => RepeatedJob;
}

/** Starts a job at once if it may, or as soon as it may. It goes on then, whatever is said later. */
export function startOnce({ log, may, name, start }: StartOptions): RepeatedJob {
  if (may()) return start();
  let started: RepeatedJob | null = null;
  const waiting = repeat({
    name,
    everyMs: 1000,
    log,
    run: async () => {
      if (started === null && may()) started = start();
    },
  });
  return {
    stop: async () => {
      await waiting.stop();
      await started?.stop();
    },
  };
}

export interface RepeatOptions {
  readonly name: string;
  readonly everyMs: number;
  readonly log: Logger;
  readonly run: () => Promise<unknown>;
}

/** A quick job that fails rests no longer than this, so that it goes on soon after an outage. */
const longestRestMs = 5000;

/**
 * Runs at once, then `everyMs` after the end of each run. While it fails it rests twice as long from time to time, up to 5 s, and never
 * shorter than the run took: one that waits for a store in vain, or that a store cancels, keeps it busy half of the time at most. Logs once when
 * it begins to fail, and once when it recovers.
 */
export function repeat({ name, everyMs, log, run }: RepeatOptions): RepeatedJob {
  let stopped = false;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  const once = async (): Promise<void> => {
    const begun = performance.now();
    let restMs = everyMs;
    try {
      await run();
      if (failures > 0) log.info({ job: name }, 'the job succeeds again');
      failures = 0;
    } catch (error) {
      if (failures === 0 && !stopped) log.warn({ job: name, err: error }, 'the job fails and will be tried again');
      restMs = Math.max(Math.min(everyMs * 2 ** failures, Math.max(everyMs, longestRestMs)), performance.now() - begun);
      failures += 1;
    }
    if (!stopped)
      timer = setTimeout(() => {
        current = once();
      }, restMs);
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
