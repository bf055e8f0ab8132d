/** The limits as Redis has them: one command to take from them, one to count what was taken without it. */
import { dayMs } from '@gw/contract/internal/durations';
import { limitKey } from '@gw/contract/internal/redis';
import { redisScript } from '../redis-script.ts';
import type { RedisWriter, Reply } from '../redis-writer.ts';
import { everyLimit, type Limit } from './bucket.ts';
import type { KeyedLimit, TakenInRedis } from './decision.ts';
import { leftScript, settleScript, takeScript } from './take.lua.ts';

/** What an instance admitted by itself and Redis has not counted. */
export interface Debt {
  readonly limit: Limit;
  /** What the bucket lacks for it by now, thousandths. */
  readonly milliTokens: number;
  /** Requests of `day`. */
  readonly used: number;
  readonly day: number;
}

export interface LimitScripts {
  readonly take: string;
  readonly settle: string;
  readonly left: string;
}

export interface RedisLimits {
  take(limits: readonly KeyedLimit[], shadow: number): Promise<TakenInRedis>;
  /** What they have left, and takes nothing. */
  left(limits: readonly KeyedLimit[]): Promise<TakenInRedis>;
  /** `nowMs`: of the clock by which the debt has its day. */
  settle(key: string, debt: Debt, nowMs: number): Promise<unknown>;
  /**
   * As a decision, on a limit that is nobody's: a Redis that may not write cannot decide. It knows the scripts then, so that what is
   * asked of it later is done in the order in which it is asked.
   */
  probe(): Promise<unknown>;
}

const probeLimit: KeyedLimit = { key: limitKey('-', 'probe'), limit: { rate: { perS: 1, burst: 1 }, perDay: null } };

export function openRedisLimits(
  redis: Pick<RedisWriter, 'send'>,
  { left, settle, take }: LimitScripts = { take: takeScript, settle: settleScript, left: leftScript },
): RedisLimits {
  const gwTake = redisScript(redis, take);
  const gwSettle = redisScript(redis, settle);
  const gwLeft = redisScript(redis, left);

  const takeFrom = async (limits: readonly KeyedLimit[], shadow: number): Promise<TakenInRedis> => {
    const args = [shadow & everyLimit.rate ? '1' : '0', shadow & everyLimit.day ? '1' : '0'];
    for (const { limit } of limits)
      args.push(`${limit.rate?.perS ?? 0}`, `${limit.rate?.burst ?? 0}`, `${limit.perDay ?? -1}`);
    const cost = limits.at(-1)?.cost;
    if (cost !== undefined) args.push(`${cost}`);
    const reply = await gwTake(
      limits.map(({ key }) => key),
      args,
    );
    return takenOf(limits, reply);
  };

  return {
    take: takeFrom,
    left: async (limits) => {
      const keys = limits.map(({ key }) => key);
      const args = limits.flatMap(({ limit: { rate } }) => [`${rate?.perS ?? 0}`, `${rate?.burst ?? 0}`]);
      return takenOf(limits, await gwLeft(keys, args));
    },
    settle: (key, { day, limit, milliTokens, used }, nowMs) => {
      const daysAgo = Math.floor(nowMs / dayMs) - day;
      const args = [limit.rate?.perS ?? 0, limit.rate?.burst ?? 0, milliTokens, used, daysAgo];
      return gwSettle([key], args.map(String));
    },
    probe: async () => {
      // Who may not do that sends them whole later.
      await redis.send(['SCRIPT', 'LOAD', take], ['SCRIPT', 'LOAD', settle]).catch(() => undefined);
      return takeFrom([probeLimit], 0);
    },
  };
}

function takenOf(limits: readonly KeyedLimit[], reply: Reply | undefined): TakenInRedis {
  const [lacking = 0, atMs = 0, ...left] = reply as readonly number[];
  const states = limits.map((_, index) => ({ milliTokens: left[2 * index] ?? 0, used: left[2 * index + 1] ?? 0 }));
  return { lacking, atMs, left: states };
}
