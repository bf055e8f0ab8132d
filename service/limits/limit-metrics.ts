/** Metrics and log lines about decisions on limits. */
import { Counter, type Registry } from 'prom-client';
import { dropOldest } from '../drop-oldest.ts';
import type { Logger } from '../log.ts';
import { gauge } from '../metric.ts';
import { type Limit, lack } from './bucket.ts';
import type { Decision } from './decision.ts';
import type { DrawnLimits } from './drawn-limits.ts';

export interface LimitMetrics {
  decided(accountId: string, kind: string, drawn: DrawnLimits, decision: Decision): void;
  register(registry: Registry): void;
}

export interface LimitMetricsOptions {
  readonly log: Logger;
  /** Monotonic, ms. */
  readonly now: () => number;
  readonly local: () => boolean;
}

const outcomes = ['admitted', 'denied', 'shadowed'] as const;
type DecisionOutcome = (typeof outcomes)[number];
/** `bytes`: bodies with a cost. `tokens` and `tokens_day`: of prompts and answers. `management`: the rate of reads and key management. */
const limits = ['rate', 'day', 'bytes', 'tokens', 'tokens_day', 'management'] as const;
type CountedLimit = (typeof limits)[number];

const callLimits = { rate: 'rate', day: 'day' } as const;
const tokenLimits = { rate: 'tokens', day: 'tokens_day' } as const;
const isSet = ({ perDay, rate }: Limit, limit: 'rate' | 'day'): boolean => (limit === 'rate' ? rate : perDay) !== null;

/** Least time between two log lines for an account, ms. */
const quietMs = 60_000;
/** The most accounts whose last line is remembered. */
const capacity = 10_000;

export function createLimitMetrics({ local, log, now }: LimitMetricsOptions): LimitMetrics {
  // Plain numbers, because a labelled counter of prom-client costs more than a decision.
  const counts = new Map<CountedLimit, Record<DecisionOutcome, number>>(
    limits.map((limit) => [limit, { admitted: 0, denied: 0, shadowed: 0 }]),
  );
  const add = (limit: CountedLimit, outcome: DecisionOutcome): void => {
    const of = counts.get(limit);
    if (of) of[outcome] += 1;
  };
  const saidAt = new Map<string, number>();

  const sayShadowed = (accountId: string, drawn: DrawnLimits, shadowed: readonly string[]): void => {
    const last = saidAt.get(accountId);
    if (last !== undefined && now() - last < quietMs) return;
    saidAt.delete(accountId);
    dropOldest(saidAt, capacity);
    saidAt.set(accountId, now());
    const keyId = drawn.levels.find(({ of }) => of === 'key')?.id;
    log.info({ accountId, ...(keyId && { keyId }), limits: shadowed }, 'a limit in shadow would have refused a call');
  };

  return {
    decided(accountId, kind, drawn, { admitted, lacking }) {
      if (kind === 'management') return add('management', admitted ? 'admitted' : 'denied');
      const shadowed: string[] = [];
      const note = (limit: CountedLimit, lacks: boolean, inShadow: boolean): void => {
        if (lacks && inShadow) {
          add(limit, 'shadowed');
          shadowed.push(limit);
        } else if (lacks) add(limit, 'denied');
        else if (admitted) add(limit, 'admitted');
      };
      const ofCalls = lacking & ((1 << (2 * drawn.levels.length)) - 1);
      const names = kind === 'tokens' ? tokenLimits : callLimits;
      for (const limit of ['rate', 'day'] as const)
        if (kind !== 'tokens' || drawn.levels.some((level) => isSet(level.limit, limit)))
          note(names[limit], ((ofCalls | (ofCalls >> 2)) & lack[limit]) !== 0, drawn.shadow.includes(limit));
      if (drawn.body) note('bytes', lacking !== ofCalls, drawn.shadow.includes('rate'));
      if (shadowed.length > 0) sayShadowed(accountId, drawn, shadowed);
    },

    register(registry) {
      new Counter({
        name: 'gw_limits_decisions_total',
        help: 'Decisions by limit: a call that is admitted counts for each of its limits, one that is denied for those that denied it',
        labelNames: ['limit', 'outcome'],
        registers: [registry],
        collect() {
          this.reset();
          for (const [limit, of] of counts) for (const outcome of outcomes) this.inc({ limit, outcome }, of[outcome]);
        },
      });
      const help = '1 while this instance enforces its share of the limits by itself, while Redis is unavailable';
      registry.registerMetric(gauge('gw_limits_local', help, local));
    },
  };
}
