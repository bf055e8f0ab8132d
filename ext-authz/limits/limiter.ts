/**
 * Decides a request's limits in Redis, in one round trip.
 *
 * While Redis is away each instance goes on with its share of the limits in its own memory: never unlimited, never closed.
 * A Redis that hangs is waited for until it is known to hang, and no longer; from then on it is asked in the background,
 * and told of what was admitted meanwhile before it decides again.
 */
import { limitKey } from '@gw/contract/internal/redis';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import { watchAnswers } from './answer-watch.ts';
import { dayMs, everyLimit, type Standing, standingOf } from './bucket.ts';
import type { DrawnLimits, Level } from './drawn-limits.ts';
import { type Debt, type KeyedLimit, openLocalShares } from './local-shares.ts';
import { settleScript, takeScript } from './take.lua.ts';

export interface LimiterOptions {
  /** Without a time-out for commands: the limiter has a patience of its own. */
  readonly redis: Redis;
  readonly now: () => number;
  /** Monotonic, ms. */
  readonly monotonic: () => number;
  /** How many instances share the limits. */
  readonly instances: number;
  readonly log: Logger;
  /** Silence of Redis after which decisions are made here, ms. */
  readonly patienceMs: number;
  /** How often Redis is asked whether it is back, ms. */
  readonly probeMs: number;
  /** Tests decide by a clock of their own. */
  readonly scripts?: { readonly take: string; readonly settle: string };
}

export interface Decision {
  readonly admitted: boolean;
  /** Bits of the limits that had no room (`lack`): those that refused, or would have. */
  readonly lacking: number;
  /** One for each level, after the decision. */
  readonly standings: readonly Standing[];
  readonly untilMidnightMs: number;
}

export interface Limiter {
  decide(accountId: string, kind: string, drawn: DrawnLimits): Promise<Decision>;
  /** Whether decisions are made on this instance alone. */
  readonly local: () => boolean;
  stop(): void;
}

/** A connection whose other end has vanished without a word is made anew after this many probes' time. */
const probesInVain = 30;

type Commands = Redis & {
  gwTake(keys: number, ...args: (string | number)[]): Promise<number[]>;
  gwSettle(keys: number, ...args: (string | number)[]): Promise<unknown>;
};

export function openLimiter(options: LimiterOptions): Limiter {
  const { instances, log, now, probeMs } = options;
  const { settle, take } = options.scripts ?? { take: takeScript, settle: settleScript };
  options.redis.defineCommand('gwTake', { lua: take });
  options.redis.defineCommand('gwSettle', { lua: settle });
  const redis = options.redis as Commands;
  const answers = watchAnswers({ now: options.monotonic, patienceMs: options.patienceMs });
  const shares = openLocalShares(instances);
  let local = false;
  let decidedHere = 0;
  let probing: NodeJS.Timeout | undefined;

  const decideHere = (limits: readonly KeyedLimit[], shadow: number): Decision => {
    const nowMs = now();
    decidedHere += 1;
    const { lacking, standings } = shares.take(limits, shadow, nowMs);
    return { admitted: (lacking & ~shadow) === 0, lacking, standings, untilMidnightMs: dayMs - (nowMs % dayMs) };
  };

  const readReply = (limits: readonly KeyedLimit[], shadow: number, reply: readonly number[]): Decision => {
    const [lacking = 0, redisMs = 0] = reply;
    const left = limits.map((_, index) => ({
      milliTokens: reply[2 + 2 * index] ?? 0,
      used: reply[3 + 2 * index] ?? 0,
    }));
    shares.follow(limits, left, now());
    const standings = limits.map(({ limit }, index) => standingOf(limit, left[index] ?? { milliTokens: 0, used: 0 }));
    return { admitted: (lacking & ~shadow) === 0, lacking, standings, untilMidnightMs: dayMs - (redisMs % dayMs) };
  };

  const settleDebt = ([key, debt]: [string, Debt]): void => {
    const { day, limit, milliTokens, used } = debt;
    redis
      .gwSettle(1, key, limit.rate?.perS ?? 0, limit.rate?.burst ?? 0, milliTokens, used, day)
      .catch(() => shares.owe(key, debt));
  };

  const comeBack = (): void => {
    local = false;
    log.info({ decidedHere }, 'limits are exact again');
    // Redis answers in the order in which it is asked, so that no decision comes before these.
    for (const debt of shares.collectDebts(now())) settleDebt(debt);
  };
  const probe = (): void => {
    const reconnecting = setTimeout(() => redis.disconnect(true), probeMs * probesInVain).unref();
    // As a decision, on a limit that is nobody's: a Redis that may not write can not decide.
    takeInRedis(redis, [probeLimit], 0)
      .finally(() => clearTimeout(reconnecting))
      .then(comeBack, probeLater);
  };
  const probeLater = (): void => {
    probing = setTimeout(probe, probeMs).unref();
  };
  const goLocal = (fault: unknown): void => {
    if (local) return;
    local = true;
    decidedHere = 0;
    log.warn(
      { fault: fault instanceof Error ? fault.message : String(fault), instances },
      'Redis is away: limits are enforced by each instance for its share',
    );
    probeLater();
  };

  return {
    local: () => local,
    stop: () => clearTimeout(probing),
    async decide(accountId, kind, drawn) {
      const limits = drawn.levels.map((level) => ({ key: keyOf(accountId, kind, level), limit: level.limit }));
      const shadow = shadowBits(drawn);
      if (local) return decideHere(limits, shadow);
      const reply = await answers.wait(() => takeInRedis(redis, limits, shadow)).catch(goLocal);
      return reply ? readReply(limits, shadow, reply) : decideHere(limits, shadow);
    },
  };
}

const probeLimit: KeyedLimit = { key: limitKey('-', 'probe'), limit: { rate: { perS: 1, burst: 1 }, perDay: null } };

/** The keys of one account share a hash tag, so that one script may take them all. */
const keyOf = (accountId: string, kind: string, { id, of }: Level): string =>
  limitKey(accountId, of === 'account' ? kind : `${kind}:${id}`);

const shadowBits = ({ shadow }: DrawnLimits): number =>
  (shadow.includes('rate') ? everyLimit.rate : 0) | (shadow.includes('day') ? everyLimit.day : 0);

function takeInRedis(redis: Commands, limits: readonly KeyedLimit[], shadow: number): Promise<number[]> {
  const args: (string | number)[] = limits.map(({ key }) => key);
  args.push(shadow & everyLimit.rate ? 1 : 0, shadow & everyLimit.day ? 1 : 0);
  for (const { limit } of limits) args.push(limit.rate?.perS ?? 0, limit.rate?.burst ?? 0, limit.perDay ?? -1);
  return redis.gwTake(limits.length, ...args);
}
