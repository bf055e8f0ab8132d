/**
 * Tells the log of keys that could not be checked.
 *
 * Invariant: a flood of calls writes one line per interval, not one per call: anybody can make such calls while Postgres
 * is away, and they must not fill the disk.
 */
import type { Logger } from '@gw/service/log';

export interface ErrorLogOptions {
  readonly log: Pick<Logger, 'error'>;
  /** Monotonic, ms. */
  readonly now: () => number;
  /** Between two lines, ms. */
  readonly intervalMs: number;
}

export interface ErrorLog {
  note(error: unknown): void;
}

export function openErrorLog({ log, now, intervalMs }: ErrorLogOptions): ErrorLog {
  let lastAt = Number.NEGATIVE_INFINITY;
  let unwritten = 0;
  return {
    note(error) {
      unwritten += 1;
      if (now() - lastAt < intervalMs) return;
      // Those since the last line, this one among them.
      log.error({ err: error, calls: unwritten }, 'keys could not be checked');
      lastAt = now();
      unwritten = 0;
    },
  };
}
