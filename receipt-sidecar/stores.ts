/** Opens the connections of the sidecar to Redis, and watches what it stands on. */
import { openGround } from '@gw/service/ground';
import { spoolGround } from '@gw/service/ground/spool';
import { valkeyGround } from '@gw/service/ground/valkey';
import { openTroubles } from '@gw/service/health/troubles';
import { watchValkey } from '@gw/service/health/valkey-watch';
import type { Logger } from '@gw/service/log';
import { openRedis, untilReady } from '@gw/service/redis';
import { isRedisCluster, redisPrimaries } from '@gw/service/redis-address';
import { openRedisWriter } from '@gw/service/redis-writer';
import type { Config } from './config.ts';

/** Resolves even if Redis is away. Rejects if a sidecar cannot work on what it finds. */
export async function openStores({ redisUrl, spoolDir }: Pick<Config, 'redisUrl' | 'spoolDir'>, log: Logger) {
  const redis = openRedis(redisUrl, log, { commandTimeoutMs: 1000, autoPipelining: true });
  // The ledger has a shorter patience of its own.
  const writes = openRedisWriter({ url: redisUrl, log, commandTimeoutMs: 1000 });
  // The catalogue is read over a connection of its own, with time for a large value.
  const subscriber = openRedis(redisUrl, log);
  const reader = openRedis(redisUrl, log, { commandTimeoutMs: 5000 });
  // A large reply holds up no receipt.
  const claims = openRedisWriter({ url: redisUrl, log, commandTimeoutMs: 1000 });
  await Promise.all([
    ...[redis, subscriber, reader].map((connection) => untilReady(connection, 2000)),
    ...[writes, claims].map((connection) => connection.untilReady(2000)),
  ]);
  const clock = () => performance.now();
  const troubles = openTroubles(log, clock);
  const valkey = watchValkey((command) => writes.send(command), troubles, clock);
  await valkey.first;
  const foundations = [valkeyGround(() => redisPrimaries(redis), isRedisCluster(redis)), spoolGround(spoolDir)];
  const ground = await openGround(foundations, { troubles, log });
  return { redis, writes, subscriber, reader, claims, troubles, valkey, ground };
}
