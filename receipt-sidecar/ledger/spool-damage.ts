import type { Logger } from '@gw/service/log';

/** Counts and logs the lines of spools that differ from what was written. */
export function watchDamage(log: Logger) {
  let lines = 0;
  return {
    damagedLines: () => lines,
    onDamaged: (count: number, keptIn: string): void => {
      lines += count;
      log.error({ lines: count, keptIn }, 'lines of the spool are damaged; they are kept, and all others are stored');
    },
  };
}
