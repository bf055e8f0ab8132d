/**
 * Logs keys that could not be checked.
 *
 * Invariant: it writes at most one line per interval, since anyone can cause such calls while Postgres is unavailable, and they must not
 * fill the disk.
 */
import type { Logger } from '@gw/service/log';

export interface ErrorLogOptions {
  readonly log: Pick<Logger, 'error'>;
  /** Monotonic, ms. */
  readonly now: () => number;
  /** Least time between two lines, ms. */
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
      log.error({ err: error, calls: unwritten }, 'keys could not be checked');
      lastAt = now();
      unwritten = 0;
    },
  };
}
