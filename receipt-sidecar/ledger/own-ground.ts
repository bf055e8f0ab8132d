/** Looks at what a sidecar stands on: Valkey, and the folder of its spool. */
import { type Ground, openGround } from '@gw/service/ground';
import { spoolGround } from '@gw/service/ground/spool';
import { valkeyGround } from '@gw/service/ground/valkey';
import type { Troubles } from '@gw/service/health/troubles';
import type { Logger } from '@gw/service/log';
import { isRedisCluster, redisPrimaries } from '@gw/service/redis-address';
import type { Redis } from 'ioredis';

interface Stores {
  readonly redis: Redis;
  readonly spoolDir: string;
  readonly troubles: Troubles;
  readonly log: Logger;
}

/** Rejects if a sidecar cannot work on it. */
export const openOwnGround = ({ log, redis, spoolDir, troubles }: Stores): Promise<Ground> =>
  openGround([valkeyGround(() => redisPrimaries(redis), isRedisCluster(redis)), spoolGround(spoolDir)], {
    troubles,
    log,
  });
