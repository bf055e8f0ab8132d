/**
 * Keeps a copy of the key generation in Redis: it stands in for Postgres while that is away. Postgres stays the truth.
 *
 * Invariant: the copy only rises. Several instances write it, and one that is slow has read an older generation.
 */
import { keyGenerationKey } from '@gw/contract/internal/redis';
import type { Database } from '@gw/prisma/client';
import { keyGeneration } from '@gw/prisma/find-key';
import type { Redis } from 'ioredis';

const raise = `
if tonumber(redis.call('GET', KEYS[1]) or '0') < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end`;

/** Rejects if a store does not answer. */
export async function copyKeyGeneration(db: Database, redis: Redis): Promise<void> {
  await redis.eval(raise, 1, keyGenerationKey, await keyGeneration(db));
}
