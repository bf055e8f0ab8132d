import { defined } from '@gw/contract/internal/defined';
import { ledgerStream } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';
import type { Logger } from './log.ts';
import { connectRedis } from './redis-address.ts';

/**
 * Opens a connection to Redis (Valkey) that always reconnects.
 *
 * A command that takes longer than `commandTimeoutMs` fails. Without a connection, commands fail immediately and are not queued: each
 * caller has its own fallback, and a queue would only replay stale work.
 */
export function openRedis(
  url: string,
  log: Logger,
  options: { commandTimeoutMs?: number; autoPipelining?: boolean } = {},
): Redis {
  const redis = connectRedis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // Subscribers subscribe themselves at each `ready`: the client's own resubscription causes an unhandled rejection, which ends the
    // process, if the connection breaks again immediately.
    autoResubscribe: false,
    connectTimeout: 2000,
    retryStrategy: (attempt) => Math.min(50 * attempt, 1000),
    enableAutoPipelining: options.autoPipelining ?? false,
    ...(options.commandTimeoutMs ? { commandTimeout: options.commandTimeoutMs } : {}),
  });
  let away = false;
  redis.on('error', (error: Error) => {
    if (!away) log.warn({ err: error }, 'Redis is unavailable');
    away = true;
  });
  redis.on('ready', () => {
    if (away) log.info('Redis is back');
    away = false;
  });
  return redis;
}

/**
 * Returns the time in ms since 1970 by the server that has the ledger. The clock of another node of a Cluster may differ, and TIME is answered
 * by any of them.
 */
export async function redisTime(redis: Pick<Redis, 'eval'>): Promise<number> {
  const time = (await redis.eval("return redis.call('TIME')", 1, ledgerStream)) as readonly unknown[];
  const [seconds, micros] = time.map(Number);
  return defined(seconds, 'The time') * 1000 + defined(micros, 'The time') / 1000;
}

/** Resolves when the connection is ready, or after `waitMs`, since a service also starts without Redis. */
export function untilReady(redis: Redis, waitMs: number): Promise<void> {
  if (redis.status === 'ready') return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, waitMs);
    redis.once('ready', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/**
 * Calls `take` with each message of a channel. Messages during a disconnection are lost. `subscriber` is a connection that is used for
 * subscriptions only.
 */
export function listenTo(subscriber: Redis, channel: string, take: (message: string) => void): void {
  const listen = () => void subscriber.subscribe(channel).catch(() => undefined);
  subscriber.on('ready', listen);
  subscriber.on('message', (from, message) => {
    if (from === channel) take(message);
  });
  if (subscriber.status === 'ready') listen();
}
