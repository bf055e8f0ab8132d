/**
 * Decides a request's limits in Redis, in one round trip.
 *
 * While Redis is unavailable each instance enforces its share of the limits in its own memory: never unlimited, never closed. Once Redis
 * is known to hang, requests do not wait for it. It is probed in the background, and learns what was admitted meanwhile before it
 * decides again.
 */
import { dayMs } from '@gw/contract/internal/durations';
import type { Logger } from '../log.ts';
import type { RedisWriter } from '../redis-writer.ts';
import { watchAnswers } from './answer-watch.ts';
import { lack } from './bucket.ts';
import {
  type Decision,
  decisionOf,
  decisionOfRedis,
  type KeyedLimit,
  keyedLimits,
  shadowBits,
  type TakenInRedis,
} from './decision.ts';
import type { DrawnLimits } from './drawn-limits.ts';
import { type LocalShares, openLocalShares } from './local-shares.ts';
import { type Debt, type LimitScripts, openRedisLimits, type RedisLimits } from './redis-limits.ts';

export interface LimiterOptions {
  /** Without a command time-out, since the limiter has its own. */
  readonly redis: Pick<RedisWriter, 'renew' | 'send'>;
  readonly now: () => number;
  /** Monotonic, ms. */
  readonly monotonic: () => number;
  /** Number of instances that share the limits. */
  readonly instances: number;
  readonly log: Logger;
  /** Silence of Redis, ms, after which this instance decides itself. */
  readonly patienceMs: number;
  /** Interval of probes while Redis is unavailable, ms. */
  readonly probeMs: number;
  /** Tests pass scripts with a fake clock. */
  readonly scripts?: LimitScripts;
}

/** Much longer than Redis takes, much shorter than Envoy waits. */
export const limitTimes = { patienceMs: 250, probeMs: 100 } as const;

/** A decision, and its time by the clock of this instance. */
export interface Taken {
  readonly lacking: number;
  readonly decidedMs: number;
}

export interface Limiter {
  decide(accountId: string, kind: string, drawn: DrawnLimits): Promise<Decision>;
  /** Returns the remaining limits as a decision that takes nothing; null without Redis. */
  left(accountId: string, kind: string, drawn: DrawnLimits): Promise<Decision | null>;
  /**
   * Takes `more` of the limits from which a call has taken, since it used more, or gives back if `more` is negative. Nobody waits for it. It counts
   * in the bucket now, and in the day on which the call took.
   */
  correct(accountId: string, kind: string, drawn: DrawnLimits, taken: Taken, more: number): void;
  /** Whether this instance decides without Redis. */
  readonly local: () => boolean;
  stop(): void;
}

export function openLimiter({ instances, log, now, ...options }: LimiterOptions): Limiter {
  const redis = openRedisLimits(options.redis, options.scripts);
  const answers = watchAnswers({ now: options.monotonic, patienceMs: options.patienceMs });
  const shares = openLocalShares(instances);
  let decidedHere = 0;

  const debts = settlement(shares, redis, { now, probeMs: options.probeMs, isAway: () => absence.lasts() });
  const absence = watchAbsence(options, redis.probe, () => {
    log.info({ decidedHere }, 'limits are exact again');
    // Redis handles commands in order, so these precede any decision.
    debts.settle();
  });
  const goLocal = (accountId: string, error: unknown): void => {
    if (absence.lasts()) return;
    decidedHere = 0;
    log.warn({ err: error, instances }, 'Redis is unavailable: each instance enforces its share of the limits');
    absence.begin(accountId);
  };

  const decideHere = (limits: readonly KeyedLimit[], shadow: number): Decision => {
    const nowMs = now();
    decidedHere += 1;
    const { lacking, quotaStates } = shares.take(limits, shadow, nowMs);
    return decisionOf(lacking, shadow, quotaStates, nowMs);
  };

  /** Redis may still decide the pending request. Its answer then arrives before that of a probe, and so before debts are settled. */
  const decideWithout = (taking: Promise<TakenInRedis> | null, limits: readonly KeyedLimit[], shadow: number) => {
    const decision = decideHere(limits, shadow);
    const forgive = (late: TakenInRedis): void => {
      if (decision.lacking === 0 && late.lacking === 0) shares.forgive(limits, late.atMs);
    };
    taking?.then(forgive, () => {});
    return decision;
  };

  return {
    correct: corrections(shares, debts.tell, { now, isAway: absence.lasts }),
    local: absence.lasts,
    stop() {
      absence.stop();
      debts.stop();
    },
    async left(accountId, kind, drawn) {
      if (absence.lasts()) return null;
      const limits = keyedLimits(accountId, kind, drawn);
      const taken = await answers.wait(() => redis.left(limits)).catch((error) => goLocal(accountId, error));
      return taken ? decisionOfRedis(limits, 0, taken) : null;
    },
    async decide(accountId, kind, drawn) {
      const limits = keyedLimits(accountId, kind, drawn);
      const shadow = shadowBits(drawn);
      if (absence.lasts()) return decideHere(limits, shadow);
      let taking: Promise<TakenInRedis> | null = null;
      const ask = () => {
        taking = redis.take(limits, shadow);
        return taking;
      };
      const taken = await answers.wait(ask).catch((error) => goLocal(accountId, error));
      if (!taken) return decideWithout(taking, limits, shadow);
      shares.follow(limits, taken.left, { decidedMs: taken.atMs, nowMs: now() });
      return decisionOfRedis(limits, shadow, taken);
    },
  };
}

/** Corrects what calls have taken: here while Redis is away, else there. */
function corrections(
  shares: Pick<LocalShares, 'correct'>,
  tell: (key: string, debt: Debt) => void,
  { isAway, now }: Pick<LimiterOptions, 'now'> & { readonly isAway: () => boolean },
): Limiter['correct'] {
  return (accountId, kind, drawn, { decidedMs, lacking }, more) => {
    const day = Math.floor(decidedMs / dayMs);
    for (const [index, { key, limit }] of keyedLimits(accountId, kind, drawn).entries()) {
      // Nothing was taken from an exhausted limit in shadow.
      const lacks = lacking >> (2 * index);
      const debt = { limit, milliTokens: lacks & lack.rate ? 0 : more * 1000, used: lacks & lack.day ? 0 : more, day };
      if (isAway()) shares.correct(key, debt, now());
      else tell(key, debt);
    }
  };
}

/** Tells Redis what was admitted here, until it has counted it. */
function settlement(
  shares: LocalShares,
  redis: Pick<RedisLimits, 'settle'>,
  { isAway, now, probeMs }: Pick<LimiterOptions, 'now' | 'probeMs'> & { readonly isAway: () => boolean },
) {
  let timer: NodeJS.Timeout | undefined;
  const tell = (key: string, debt: Debt): void => {
    redis.settle(key, debt, now()).catch(() => {
      shares.owe(key, debt);
      // Maybe no request fails that would begin another absence, at whose end this is made up for.
      timer ??= setTimeout(again, probeMs).unref();
    });
  };
  const settle = (): void => {
    for (const [key, debt] of shares.collectDebts(now())) tell(key, debt);
  };
  const again = (): void => {
    timer = undefined;
    if (!isAway()) settle();
  };
  return { settle, tell, stop: () => clearTimeout(timer) };
}

/** Probe intervals after which a connection without an answer is replaced. */
const probesInVain = 30;

/** Probes with the account of `begin` until an answer, then calls `over`. */
function watchAbsence(
  { probeMs, redis }: Pick<LimiterOptions, 'probeMs' | 'redis'>,
  probe: (accountId: string) => Promise<unknown>,
  over: () => void,
) {
  let lasts = false;
  let isStopped = false;
  let failed = '';
  let timer: NodeJS.Timeout | undefined;
  const later = (): void => {
    if (isStopped) return;
    timer = setTimeout(ask, probeMs).unref();
  };
  const ask = (): void => {
    const reconnecting = setTimeout(() => redis.renew(), probeMs * probesInVain).unref();
    probe(failed)
      .finally(() => clearTimeout(reconnecting))
      .then(() => {
        lasts = false;
        over();
      }, later);
  };
  return {
    lasts: () => lasts,
    begin: (accountId: string) => {
      lasts = true;
      failed = accountId;
      later();
    },
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
