/** The connection of the hot path where Redis is a Cluster: the lean one knows a single server, so ioredis finds the nodes. */
import { setTimeout as delay } from 'node:timers/promises';
import { openRedis, untilReady } from './redis.ts';
import type { Command, RedisWriter, RedisWriterOptions } from './redis-commands.ts';
import type { PlainReply, Reply } from './redis-replies.ts';

/** Other nodes answer on while one is silent, so no caller would notice by itself, ms. */
const longestMs = 1000;

/** Commands of one group keep their order as far as they go to the same node. */
export function openClusterWriter({ url, log, commandTimeoutMs }: RedisWriterOptions): RedisWriter {
  const redis = openRedis(url, log);
  const isReady = (): boolean => redis.status === 'ready';
  const ask = async (...commands: readonly Command[]): Promise<readonly Reply[]> => {
    if (!isReady()) throw new Error('Redis is unavailable.');
    return Promise.all(commands.map(([name, ...args]) => redis.callBuffer(String(name), args).then(replyOf)));
  };
  return {
    send: (...commands) => within(ask(...commands), Math.min(commandTimeoutMs, longestMs)),
    patient: { send: (...commands) => within(ask(...commands), longestMs) },
    isReady,
    // ioredis leaves a node that is gone by itself, and the others would be cut off as well.
    renew: () => undefined,
    untilReady: (waitMs) => untilReady(redis, waitMs),
    stop: () => void redis.quit().catch(() => redis.disconnect()),
  };
}

async function within<T>(asked: Promise<T>, ms: number): Promise<T> {
  const stop = new AbortController();
  const late = delay(ms, undefined, { signal: stop.signal }).then(() => {
    throw new Error('Redis took too long.');
  });
  late.catch(() => {});
  return Promise.race([asked, late]).finally(() => stop.abort());
}

/** As the lean connection gives them. */
const replyOf = (reply: unknown): Reply => (Array.isArray(reply) ? reply.map(plainOf) : plainOf(reply));
const plainOf = (reply: unknown): PlainReply =>
  Buffer.isBuffer(reply) ? reply.toString('latin1') : (reply as PlainReply);
