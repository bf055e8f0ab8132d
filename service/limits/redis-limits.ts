/** Limits in Redis: commands to take from them and to settle what was taken without Redis. */
import { elementAt } from '@gw/contract/internal/defined';
import { dayMs } from '@gw/contract/internal/durations';
import { limitKey } from '@gw/contract/internal/redis';
import { redisScript } from '../redis-script.ts';
import type { RedisWriter, Reply } from '../redis-writer.ts';
import { everyLimit, type Limit } from './bucket.ts';
import type { KeyedLimit, TakenInRedis } from './decision.ts';
import { leftScript, settleScript, takeScript } from './take.lua.ts';

/** Redis has not counted it: calls that an instance admitted itself, and what calls used beyond what they took, or less (negative). */
export interface Debt {
  readonly limit: Limit;
  /** Thousandths of tokens still missing from the bucket. */
  readonly milliTokens: number;
  /** To add to the use of `day`. */
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
  /** Reads the remaining limits. */
  left(limits: readonly KeyedLimit[]): Promise<TakenInRedis>;
  /** `nowMs` is of the clock that set the day of the debt. */
  settle(key: string, debt: Debt, nowMs: number): Promise<unknown>;
  /**
   * Makes a decision on an unused limit of an account, because a Redis that cannot write cannot decide, and of a Cluster the node that has its
   * limits. It also loads the scripts, so that later commands run in order.
   */
  probe(accountId: string): Promise<unknown>;
}

const probeLimit: Limit = { rate: { perS: 1, burst: 1 }, perDay: null };

export function openRedisLimits(
  redis: Pick<RedisWriter, 'send'>,
  { left, settle, take }: LimitScripts = { take: takeScript, settle: settleScript, left: leftScript },
): RedisLimits {
  const gwTake = redisScript(redis, take);
  const gwSettle = redisScript(redis, settle);
  const gwLeft = redisScript(redis, left);

  const takeFrom = async (limits: readonly KeyedLimit[], shadow: number): Promise<TakenInRedis> => {
    const args = [shadow & everyLimit.rate ? '1' : '0', shadow & everyLimit.day ? '1' : '0'];
    for (const { cost = 1, limit } of limits) args.push(...rateArgs(limit), `${limit.perDay ?? -1}`, `${cost}`);
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
      return takenOf(
        limits,
        await gwLeft(
          keys,
          limits.flatMap(({ limit }) => rateArgs(limit)),
        ),
      );
    },
    settle: (key, { day, limit, milliTokens, used }, nowMs) => {
      const daysAgo = Math.floor(nowMs / dayMs) - day;
      const owes = limit.owes === true ? '1' : '0';
      return gwSettle([key], [...rateArgs(limit), `${milliTokens}`, `${used}`, `${daysAgo}`, owes]);
    },
    probe: async (accountId) => {
      // A user without permission for this sends the scripts with EVAL later.
      await redis.send(['SCRIPT', 'LOAD', take], ['SCRIPT', 'LOAD', settle]).catch(() => undefined);
      return takeFrom([{ key: limitKey(accountId, 'probe'), limit: probeLimit }], 0);
    },
  };
}

/** Rate and burst as arguments of a script; 0 means no rate. */
const rateArgs = ({ rate }: Limit): string[] => (rate ? [`${rate.perS}`, `${rate.burst}`] : ['0', '0']);

function takenOf(limits: readonly KeyedLimit[], reply: Reply | undefined): TakenInRedis {
  const [lacking, atMs, ...left] = reply as readonly [number, number, ...number[]];
  const states = limits.map((_, index) => ({
    milliTokens: elementAt(left, 2 * index),
    used: elementAt(left, 2 * index + 1),
  }));
  return { lacking, atMs, left: states };
}
