/**
 * Shows which acknowledged writes a Valkey has lost. A kill while its disk is busy loses those of up to two seconds
 * (docs/failure-modes.md). A counter that is raised all the time says whether that happened, and when the lost writes were made.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { limitKey } from '@gw/contract/internal/redis';
import { connectRedis } from '@gw/service/redis-address';

/** The writes of this time are lost, by the clock, ms. */
export interface Forgotten {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface ValkeyMemory {
  readonly forgotten: readonly Forgotten[];
  stop(): Promise<void>;
}

const everyMs = 20;

interface Watched {
  readonly redisUrl: string;
  /** Its counts are on the same node of a Cluster. */
  readonly accountId: string;
  readonly tell: (line: string) => void;
}

export function watchValkeyMemory({ accountId, redisUrl, tell }: Watched): ValkeyMemory {
  const key = limitKey(accountId, 'raised-by-the-chaos');
  const redis = connectRedis(redisUrl, { commandTimeout: 1000, maxRetriesPerRequest: 0, enableOfflineQueue: false });
  // It is down every now and then.
  redis.on('error', () => {});
  const forgotten: Forgotten[] = [];
  const raisedAt: number[] = [];
  let stopped = false;
  const raise = async (): Promise<void> => {
    const askedMs = Date.now();
    const value = await redis.incr(key);
    const firstLostAt = raisedAt[value];
    if (firstLostAt !== undefined) {
      const span = { fromMs: raisedAt[value - 1] ?? firstLostAt, toMs: askedMs };
      tell(
        `     Valkey has lost ${raisedAt.length - value} of the counter's writes since ${new Date(span.fromMs).toISOString()}`,
      );
      forgotten.push(span);
      raisedAt.length = value;
    }
    raisedAt[value] = askedMs;
  };
  const watching = (async () => {
    for (; !stopped; await delay(everyMs)) await raise().catch(() => {});
    redis.disconnect();
  })();
  return {
    forgotten,
    stop: () => {
      stopped = true;
      return watching;
    },
  };
}
