/** The Valkey that test files use one after the other: each worker of vitest has one, so no two files use it at once. */
import { openLog } from '@gw/service/log';
import { openRedisWriter, type RedisWriter } from '@gw/service/redis-writer';
import { Redis } from 'ioredis';
import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The url for each worker; missing in projects that start none. */
    valkeys?: readonly string[];
  }
}

/** The url of this worker's Valkey, of which everything that the file before left is gone. */
export async function emptyValkey(): Promise<string> {
  const url = inject('valkeys')?.[Number(process.env.VITEST_POOL_ID) - 1];
  if (url === undefined) throw new Error('This project of tests starts no Valkey for this worker.');
  const redis = new Redis(url);
  // A file's leftover processes must not write into the next file's store.
  for (const type of ['normal', 'pubsub'] as const) await redis.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'YES');
  await redis.flushall();
  await redis.config('RESETSTAT');
  redis.disconnect();
  return url;
}

/** A lean connection that is ready. */
export async function readyWriter(url: string): Promise<RedisWriter> {
  const writer = openRedisWriter({ url, log: openLog('test', 'silent'), commandTimeoutMs: 5000 });
  await writer.untilReady(5000);
  return writer;
}
