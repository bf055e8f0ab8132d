/** Keeps a copy of the key generation in Redis: it stands in for Postgres while that is away. Postgres stays the truth. */
import { keyGenerationKey } from '@gw/contract/internal/redis';
import type { Database } from '@gw/prisma/client';
import { keyGeneration } from '@gw/prisma/find-key';
import type { Redis } from 'ioredis';

export async function copyKeyGeneration(db: Database, redis: Redis): Promise<void> {
  await redis.set(keyGenerationKey, await keyGeneration(db));
}
