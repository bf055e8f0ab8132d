/**
 * Tells the key cache of changes: at once by Redis pub/sub, and within `pollMs` by a counter in Postgres in case a
 * message was lost. While Postgres is away the counter's copy in Redis stands in; while both are away nothing confirms
 * the cache, and it refuses after its grace time.
 */
import { keyChangedChannel, keyGenerationKey } from '@gw/contract/internal/redis';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import type { KeyCache } from './key-cache.ts';

export interface ChangeWatchOptions {
  readonly cache: KeyCache;
  /** The generation in Postgres: rises with every change of a key or an account. */
  readonly generation: () => Promise<number>;
  readonly redis: Redis;
  readonly subscriber: Redis;
  readonly pollMs: number;
  readonly log: Logger;
}

export interface ChangeWatch {
  /** Whether a store answered the last poll. */
  readonly confirmed: () => boolean;
  stop(): void;
}

export function watchChanges(options: ChangeWatchOptions): ChangeWatch {
  const { cache, generation, redis, subscriber, pollMs, log } = options;
  let known: number | null = null;
  let confirmed = true;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  // What was published while the connection was away is lost; the next poll notices it.
  const listen = () => void subscriber.subscribe(keyChangedChannel).catch(() => undefined);
  subscriber.on('message', (_channel, publicId) => cache.forget(publicId));
  subscriber.on('ready', listen);
  if (subscriber.status === 'ready') listen();

  const current = async (): Promise<number> => {
    try {
      return await generation();
    } catch (fault) {
      const copy = await redis.get(keyGenerationKey);
      // A copy older than what Postgres has told is a leftover and confirms nothing.
      if (copy === null || Number(copy) < (known ?? 0)) throw fault;
      return Number(copy);
    }
  };
  const poll = async (): Promise<void> => {
    try {
      const now = await current();
      if (now !== known) cache.forget('*');
      known = now;
      cache.confirm();
      if (!confirmed) log.info('keys are confirmed again');
      confirmed = true;
    } catch (fault) {
      if (confirmed)
        log.error(
          { fault: fault instanceof Error ? fault.message : String(fault) },
          'keys can not be confirmed; cached ones are honoured for the grace time',
        );
      confirmed = false;
    }
    if (!stopped) timer = setTimeout(() => void poll(), pollMs);
  };
  void poll();

  return {
    confirmed: () => confirmed,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
