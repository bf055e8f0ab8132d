/**
 * Faults of the program that do not stop it: an exception that becomes a value, such as a degraded receipt, still leaves its
 * stack and a count.
 */
import { minuteMs } from '@gw/contract/internal/durations';
import { Counter, type Registry } from 'prom-client';
import type { Logger } from './log.ts';

export interface FaultLog {
  /**
   * Counts the fault, and logs its error with the stack unless one of its kind was logged within the last minute. `kind` is one
   * of a few constant words, since each is a series of the metric.
   */
  fault(kind: string, error: unknown): void;
  /** Adds the metric to those of the service. */
  register(registry: Registry): void;
}

/** `clock`: monotonic, ms. */
export function createFaultLog(log: Logger, clock: () => number): FaultLog {
  const faults = new Counter({
    name: 'gw_program_faults_total',
    help: 'Exceptions that are faults of the program and did not stop it, by the part of the work that failed',
    labelNames: ['kind'],
    registers: [],
  });
  const loggedAt = new Map<string, number>();
  return {
    fault(kind, error) {
      faults.inc({ kind });
      const now = clock();
      if (now - (loggedAt.get(kind) ?? Number.NEGATIVE_INFINITY) < minuteMs) return;
      loggedAt.set(kind, now);
      log.error({ kind, err: error }, 'a fault of the program: others of its kind within a minute are only counted');
    },
    register: (registry) => registry.registerMetric(faults),
  };
}
