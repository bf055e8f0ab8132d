/** Opens the connection to Redis (Valkey) for every service. */
import { Redis } from 'ioredis';
import type { Logger } from './log.ts';

/**
 * Opens a connection that reconnects for ever.
 *
 * A command that takes longer than `commandTimeoutMs` fails. While the connection is away commands fail at once and are not
 * queued: each caller has its own way to go on without Redis, and a queue would only replay stale work.
 */
export function openRedis(
  url: string,
  log: Logger,
  options: { commandTimeoutMs?: number; autoPipelining?: boolean } = {},
): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // Subscribers subscribe at each `ready` by themselves: the client's own way leaves a rejection that nobody handles, which
    // ends the process, if the connection is lost again at once.
    autoResubscribe: false,
    connectTimeout: 2000,
    retryStrategy: (attempt) => Math.min(50 * attempt, 1000),
    enableAutoPipelining: options.autoPipelining ?? false,
    ...(options.commandTimeoutMs ? { commandTimeout: options.commandTimeoutMs } : {}),
  });
  let away = false;
  redis.on('error', (error: Error) => {
    // One line for an outage, not one for each attempt.
    if (!away) log.warn({ err: error }, 'Redis is away');
    away = true;
  });
  redis.on('ready', () => {
    if (away) log.info('Redis is back');
    away = false;
  });
  return redis;
}

/** Resolves when the connection is ready, or after `waitMs` even if it is not: a service also starts without Redis. */
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
