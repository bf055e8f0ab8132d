import { counter, registering } from '@gw/service/metric';
import type { Registry } from 'prom-client';

const outcomes = ['claimed', 'rerun', 'replay', 'not_kept', 'reused', 'running', 'unknown'] as const;
/** `over_quota`: there was no room for it, even without the oldest replies of its account. `lost`: Redis did not take the reply. */
const ends = ['kept', 'too_large', 'over_quota', 'lost'] as const;

export interface IdempotencyMetrics {
  /** Counts the calls with an idempotency key by what was found under it. */
  found(outcome: (typeof outcomes)[number]): void;
  /** Counts the replies by how storing them ended. */
  ended(end: (typeof ends)[number]): void;
  register(registry: Registry): void;
}

export function createIdempotencyMetrics(): IdempotencyMetrics {
  const found = counter('gw_idempotent_calls_total', 'Calls with an idempotency key, by what had become of that', {
    found: outcomes,
  });
  const help = 'Replies to calls with an idempotency key that ran, by what became of them';
  const ended = counter('gw_idempotent_replies_total', help, { end: ends });
  return {
    found: (outcome) => found.inc({ found: outcome }),
    ended: (end) => ended.inc({ end }),
    register: registering(found, ended),
  };
}
