/** The limits as Redis has them: one command to take from them, one to count what was taken without it. */
import { dayMs } from '@gw/contract/internal/durations';
import { limitKey } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';
import { everyLimit, type Limit, type LimitState } from './bucket.ts';
import type { Debt, KeyedLimit } from './local-shares.ts';
import { giveBackScript, settleScript, takeScript } from './take.lua.ts';

export interface LimitScripts {
  readonly take: string;
  readonly settle: string;
  readonly giveBack: string;
}

export interface TakenInRedis {
  /** Bits of the limits that had no room. */
  readonly lacking: number;
  /** By the clock of Redis. */
  readonly atMs: number;
  readonly left: readonly Pick<LimitState, 'milliTokens' | 'used'>[];
  /** For how many calls it was taken: one, or as many as were asked for. */
  readonly calls: number;
}

export interface RedisLimits {
  /** `calls`: more than one are taken only far from every limit, and never with a body or in shadow. */
  take(limits: readonly KeyedLimit[], shadow: number, calls?: number): Promise<TakenInRedis>;
  /** Puts calls of a day that were not made back into each limit. */
  giveBack(limits: readonly KeyedLimit[], calls: number, day: number): Promise<unknown>;
  /** `nowMs`: of the clock by which the debt has its day. */
  settle(key: string, debt: Debt, nowMs: number): Promise<unknown>;
  /** As a decision, on a limit that is nobody's: a Redis that may not write cannot decide. */
  probe(): Promise<unknown>;
}

type Commands = Redis & {
  gwTake(keys: number, ...args: (string | number)[]): Promise<number[]>;
  gwSettle(keys: number, ...args: (string | number)[]): Promise<unknown>;
  gwGiveBack(keys: number, ...args: (string | number)[]): Promise<unknown>;
};

const probeLimit: KeyedLimit = { key: limitKey('-', 'probe'), limit: { rate: { perS: 1, burst: 1 }, perDay: null } };

export function openRedisLimits(
  connection: Redis,
  { giveBack, settle, take }: LimitScripts = { take: takeScript, settle: settleScript, giveBack: giveBackScript },
): RedisLimits {
  connection.defineCommand('gwTake', { lua: take });
  connection.defineCommand('gwSettle', { lua: settle });
  connection.defineCommand('gwGiveBack', { lua: giveBack });
  const redis = connection as Commands;

  const takeFrom = async (limits: readonly KeyedLimit[], shadow: number, calls = 1): Promise<TakenInRedis> => {
    const args: (string | number)[] = limits.map(({ key }) => key);
    args.push(shadow & everyLimit.rate ? 1 : 0, shadow & everyLimit.day ? 1 : 0);
    for (const { limit } of limits) args.push(...numbersOf(limit));
    const cost = limits.at(-1)?.cost;
    if (calls > 1) args.push(1, calls);
    else if (cost !== undefined) args.push(cost);
    const reply = await redis.gwTake(limits.length, ...args);
    const [lacking = 0, atMs = 0, ...left] = reply;
    const states = limits.map((_, index) => ({ milliTokens: left[2 * index] ?? 0, used: left[2 * index + 1] ?? 0 }));
    return { lacking, atMs, left: states, calls: left[2 * limits.length] ?? 1 };
  };

  return {
    take: takeFrom,
    settle: (key, { day, limit, milliTokens, used }, nowMs) => {
      const daysAgo = Math.floor(nowMs / dayMs) - day;
      return redis.gwSettle(1, key, limit.rate?.perS ?? 0, limit.rate?.burst ?? 0, milliTokens, used, daysAgo);
    },
    giveBack: (limits, calls, day) => redis.gwGiveBack(limits.length, ...limits.map(({ key }) => key), calls, day),
    probe: () => takeFrom([probeLimit], 0),
  };
}

/** Rate (0: none), burst, and per day (-1: none). */
const numbersOf = ({ perDay, rate }: Limit): number[] => [rate?.perS ?? 0, rate?.burst ?? 0, perDay ?? -1];
