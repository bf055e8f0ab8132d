/**
 * Decides a request's limits in Redis, in one round trip.
 *
 * While Redis is away each instance goes on with its share of the rate and of the day budget in its own memory: never
 * unlimited, never closed. Afterwards Redis is exact again; what the fallback admitted is not added to its day count.
 */
import { limitKey } from '@gw/contract/internal/redis';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import { type Bucket, type BucketState, type Decision, dayMs, fullBucket, take } from './bucket.ts';
import { takeScript } from './take.lua.ts';

export interface LimiterOptions {
  readonly redis: Redis;
  readonly now: () => number;
  readonly instances: number;
  readonly log: Logger;
}

/** Accounts remembered by the fallback; the oldest go first. */
const fallbackCapacity = 10_000;
const outcomes = ['admitted', 'rate', 'day'] as const;

type TakeCommand = (
  key: string,
  ratePerS: number,
  burst: number,
  perDay: number,
) => Promise<[number, number, number, number]>;

export interface Limiter {
  decide(accountId: string, kind: string, bucket: Bucket): Promise<Decision>;
  /** Whether decisions are made on this instance alone. */
  readonly local: () => boolean;
}

export function openLimiter({ redis, now, instances, log }: LimiterOptions): Limiter {
  redis.defineCommand('gwTake', { numberOfKeys: 1, lua: takeScript });
  const takeInRedis: TakeCommand = (key, ...args) => (redis as unknown as { gwTake: TakeCommand }).gwTake(key, ...args);
  const fallback = new Map<string, BucketState>();
  let local = false;

  const decideLocally = (key: string, bucket: Bucket): Decision => {
    const share: Bucket = {
      ratePerS: bucket.ratePerS / instances,
      burst: Math.max(1, Math.floor(bucket.burst / instances)),
      perDay: bucket.perDay === null ? null : Math.ceil(bucket.perDay / instances),
    };
    let state = fallback.get(key);
    if (!state) {
      state = fullBucket(share, now());
      if (fallback.size >= fallbackCapacity) fallback.delete(fallback.keys().next().value ?? '');
      fallback.set(key, state);
    }
    return take(state, share, now());
  };

  return {
    local: () => local,
    async decide(accountId, kind, bucket) {
      const key = limitKey(accountId, kind);
      try {
        const [outcome, milliTokens, used, atMs] = await takeInRedis(
          key,
          bucket.ratePerS,
          bucket.burst,
          bucket.perDay ?? -1,
        );
        if (local) log.info('limits are exact again');
        local = false;
        const tokens = milliTokens / 1000;
        return {
          outcome: outcomes[outcome] ?? 'rate',
          remaining: Math.floor(tokens),
          nextTokenMs: tokens >= 1 ? 0 : ((1 - tokens) * 1000) / bucket.ratePerS,
          remainingDay: bucket.perDay === null ? null : Math.max(0, bucket.perDay - used),
          untilMidnightMs: dayMs - (atMs % dayMs),
        };
      } catch (fault) {
        if (!local)
          log.warn(
            { fault: fault instanceof Error ? fault.message : String(fault), instances },
            'Redis is away: limits are enforced by each instance for its share',
          );
        local = true;
        return decideLocally(key, bucket);
      }
    },
  };
}
