/** The limits as Redis has them: one command to take from them, one to count what was taken without it. */
import { dayMs } from '@gw/contract/internal/durations';
import { limitKey } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';
import { everyLimit, type LimitState } from './bucket.ts';
import type { Debt, KeyedLimit } from './local-shares.ts';
import { settleScript, takeScript } from './take.lua.ts';

export interface LimitScripts {
  readonly take: string;
  readonly settle: string;
}

export interface TakenInRedis {
  /** Bits of the limits that had no room. */
  readonly lacking: number;
  /** By the clock of Redis. */
  readonly atMs: number;
  readonly left: readonly Pick<LimitState, 'milliTokens' | 'used'>[];
}

export interface RedisLimits {
  take(limits: readonly KeyedLimit[], shadow: number): Promise<TakenInRedis>;
  /** `nowMs`: of the clock by which the debt has its day. */
  settle(key: string, debt: Debt, nowMs: number): Promise<unknown>;
  /** As a decision, on a limit that is nobody's: a Redis that may not write cannot decide. */
  probe(): Promise<unknown>;
}

type Commands = Redis & {
  gwTake(keys: number, ...args: (string | number)[]): Promise<number[]>;
  gwSettle(keys: number, ...args: (string | number)[]): Promise<unknown>;
};

const probeLimit: KeyedLimit = { key: limitKey('-', 'probe'), limit: { rate: { perS: 1, burst: 1 }, perDay: null } };

export function openRedisLimits(
  connection: Redis,
  { settle, take }: LimitScripts = { take: takeScript, settle: settleScript },
): RedisLimits {
  connection.defineCommand('gwTake', { lua: take });
  connection.defineCommand('gwSettle', { lua: settle });
  const redis = connection as Commands;

  const takeFrom = async (limits: readonly KeyedLimit[], shadow: number): Promise<TakenInRedis> => {
    const args: (string | number)[] = limits.map(({ key }) => key);
    args.push(shadow & everyLimit.rate ? 1 : 0, shadow & everyLimit.day ? 1 : 0);
    for (const { limit } of limits) args.push(limit.rate?.perS ?? 0, limit.rate?.burst ?? 0, limit.perDay ?? -1);
    const cost = limits.at(-1)?.cost;
    if (cost !== undefined) args.push(cost);
    const [lacking = 0, atMs = 0, ...left] = await redis.gwTake(limits.length, ...args);
    const states = limits.map((_, index) => ({ milliTokens: left[2 * index] ?? 0, used: left[2 * index + 1] ?? 0 }));
    return { lacking, atMs, left: states };
  };

  return {
    take: takeFrom,
    settle: (key, { day, limit, milliTokens, used }, nowMs) => {
      const daysAgo = Math.floor(nowMs / dayMs) - day;
      return redis.gwSettle(1, key, limit.rate?.perS ?? 0, limit.rate?.burst ?? 0, milliTokens, used, daysAgo);
    },
    probe: () => takeFrom([probeLimit], 0),
  };
}
