/** Looks at what a sidecar stands on: Valkey, and the folder of its spool. */
import { type Ground, openGround } from '@gw/service/ground';
import { spoolGround } from '@gw/service/ground/spool';
import { valkeyGround } from '@gw/service/ground/valkey';
import { openTroubles, type Troubles } from '@gw/service/health/troubles';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';

interface Stores {
  readonly redis: Redis;
  readonly spoolDir: string;
  /** Monotonic, ms. */
  readonly clock: () => number;
  readonly log: Logger;
}

/** Rejects if a sidecar cannot work on it. */
export async function openOwnGround({
  clock,
  log,
  redis,
  spoolDir,
}: Stores): Promise<{ readonly ground: Ground; readonly troubles: Troubles }> {
  const troubles = openTroubles(log, clock);
  const foundations = [valkeyGround((command) => redis.call(command)), spoolGround(spoolDir)];
  return { ground: await openGround(foundations, { troubles, log }), troubles };
}
