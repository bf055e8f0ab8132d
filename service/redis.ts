/** The connection to Redis (Valkey) as every service wants it. */
import { Redis } from 'ioredis';
import type { Logger } from './log.ts';

/**
 * Opens a connection that reconnects for ever.
 *
 * `commandTimeoutMs`: a command that takes longer fails. Commands fail at once while the connection is away (no queue):
 * each caller has its own way to go on without Redis, and a queue would only replay stale work.
 */
export function openRedis(
  url: string,
  log: Logger,
  options: { commandTimeoutMs?: number; autoPipelining?: boolean } = {},
): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
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

/** Resolves once the connection is ready, or after `waitMs`: a service starts without Redis too. */
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
