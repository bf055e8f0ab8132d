/** What the monitoring system reads of idempotency keys. */
import { Counter, type Registry } from 'prom-client';

const outcomes = ['claimed', 'rerun', 'replay', 'not_kept', 'reused', 'running', 'unknown'] as const;
/** `over_quota`: the account has stored as much as it can in a day. `lost`: Redis did not take it. */
const ends = ['kept', 'too_large', 'over_quota', 'lost'] as const;

export interface IdempotencyMetrics {
  /** Counts what had become of a call with an idempotency key. */
  found(outcome: (typeof outcomes)[number]): void;
  /** Counts what became of the reply of one that ran. */
  ended(end: (typeof ends)[number]): void;
  /** Adds the metrics to those of the service. */
  register(registry: Registry): void;
}

export function createIdempotencyMetrics(): IdempotencyMetrics {
  const found = new Counter({
    name: 'gw_idempotent_calls_total',
    help: 'Calls with an idempotency key, by what had become of that',
    labelNames: ['found'],
    registers: [],
  });
  const ended = new Counter({
    name: 'gw_idempotent_replies_total',
    help: 'Replies to calls with an idempotency key that ran, by what became of them',
    labelNames: ['end'],
    registers: [],
  });
  // Known from the start, so that the first one is an increase.
  for (const outcome of outcomes) found.inc({ found: outcome }, 0);
  for (const end of ends) ended.inc({ end }, 0);
  return {
    found: (outcome) => found.inc({ found: outcome }),
    ended: (end) => ended.inc({ end }),
    register: (registry) => {
      registry.registerMetric(found);
      registry.registerMetric(ended);
    },
  };
}
