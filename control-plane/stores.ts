/** Opens the connections of the control plane to its stores, and watches what it stands on. */
import { elementAt } from '@gw/contract/internal/defined';
import { openDatabase, poolStateOf } from '@gw/prisma/client';
import { readGround } from '@gw/prisma/ground';
import { byControlPlaneRole, type ControlPlaneRole, queryTimeoutMs } from '@gw/prisma/roles';
import { commitNothing } from '@gw/prisma/statements';
import { type GroundOptions, openGround } from '@gw/service/ground';
import { postgresGround } from '@gw/service/ground/postgres';
import { valkeyGround } from '@gw/service/ground/valkey';
import { createPoolMetrics, type PoolMetrics } from '@gw/service/health/pool-metrics';
import { watchPostgres } from '@gw/service/health/postgres-watch';
import { watchValkey } from '@gw/service/health/valkey-watch';
import type { Logger } from '@gw/service/log';
import { openRedis, untilReady } from '@gw/service/redis';
import { isRedisCluster, redisPrimaries } from '@gw/service/redis-address';
import { openRedisWriter, type RedisWriter } from '@gw/service/redis-writer';
import type { Redis } from 'ioredis';
import type { Registry } from 'prom-client';
import type { Config } from './config.ts';
import type { Context, Databases } from './shared/context.ts';
import { watchStatements } from './shared/slow-statements.ts';
import { watchSidecars } from './silent-sidecars.ts';

export interface Stores {
  readonly databases: Databases;
  readonly redis: Redis;
  /** The connection for reads that block. */
  readonly blockingRedis: Redis;
  /** The one for claims of idempotency keys. */
  readonly claims: RedisWriter;
  /** Adds the metrics of the pools. */
  registerPools?(registry: Registry): void;
  close(): Promise<void>;
}

/**
 * Connections of an instance to Postgres by role, 28 in all (docs/operations.md). One role cannot use up the connections of another: where
 * many wait for the key of an account, receipts are stored all the same.
 */
const connectionsOf: Readonly<Record<ControlPlaneRole, number>> = {
  people: 4,
  customers: 6,
  catalogue: 4,
  ledger: 8,
  reader: 6,
};

function openDatabases(urls: Config['databaseUrls'], log: Logger, pools: PoolMetrics): Databases {
  const onConnectionLost = (error: Error) => log.warn({ err: error }, 'a database connection was lost');
  return byControlPlaneRole((role) =>
    openDatabase(urls[role], {
      connections: connectionsOf[role],
      queryTimeoutMs: queryTimeoutMs(role),
      onConnectionLost,
      onStatement: (seconds) => pools.took(role, seconds),
    }),
  );
}

/** Looks for what is wrong with the stores and the sidecars. */
export function watchGround(context: Context, { databases, redis }: Stores): { stop(): void | Promise<void> }[] {
  const { troubles } = context;
  const now = () => performance.now();
  const valkey = watchValkey(([command = '', ...rest]) => redis.call(command, ...rest), troubles, now);
  const postgres = watchPostgres(() => commitNothing(databases.ledger), troubles, now);
  return [valkey, postgres, watchStatements(databases, troubles, now), watchSidecars(context)];
}

export async function openStores({ databaseUrls, redisUrl }: Config, log: Logger): Promise<Stores> {
  const pools = createPoolMetrics();
  const databases = openDatabases(databaseUrls, log, pools);
  const redis = openRedis(redisUrl, log, { commandTimeoutMs: 2000 });
  // Longer than the ingester blocks; a connection that died in silence is noticed too.
  const blockingRedis = openRedis(redisUrl, log, { commandTimeoutMs: 10_000 });
  const claims = openRedisWriter({ url: redisUrl, log, commandTimeoutMs: 2000 });
  await Promise.all([...[redis, blockingRedis].map((each) => untilReady(each, 5000)), claims.untilReady(5000)]);
  return {
    databases,
    redis,
    blockingRedis,
    claims,
    registerPools: (registry) =>
      pools.register(
        registry,
        byControlPlaneRole((role) => () => poolStateOf(databases[role])),
      ),
    close: async () => {
      redis.disconnect();
      blockingRedis.disconnect();
      claims.stop();
      await Promise.all(Object.values(databases).map((db) => db.$disconnect()));
    },
  };
}

/** The first role that cannot work speaks for the database. */
export const openStoresGround = ({ databases, redis }: Pick<Stores, 'databases' | 'redis'>, options: GroundOptions) =>
  openGround(
    [
      valkeyGround(() => redisPrimaries(redis), isRedisCluster(redis)),
      postgresGround(async () => {
        const read = await Promise.all(Object.values(databases).map((db) => readGround(db)));
        const wrong = read.find((each) => typeof each === 'string' || !each.mayRead);
        return wrong ?? elementAt(read, 0);
      }),
    ],
    options,
  );
