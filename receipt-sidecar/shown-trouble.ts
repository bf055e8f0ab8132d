/**
 * Shows in Redis which deployments cannot take calls, for `GET /v1/regions`.
 *
 * Invariant: fail-open. Where Redis is away nothing is shown, and what was shown goes by itself when the deployment is tried
 * again.
 */
import type { DeploymentTrouble } from '@gw/contract/internal/deployment-trouble';
import { deploymentTroubleKey } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';
import type { Trouble } from './deployment-health.ts';

/** `now`: ms since 1970. */
export const showTrouble =
  (redis: Redis, now: () => number) =>
  (deployment: string, trouble: Trouble | null): void => {
    const key = deploymentTroubleKey(deployment);
    if (trouble === null) return void redis.del(key).catch(() => undefined);
    const { failures, forMs, status } = trouble;
    const shown: DeploymentTrouble = { status, failures, at: new Date(now()).toISOString() };
    redis.set(key, JSON.stringify(shown), 'PX', Math.ceil(forMs)).catch(() => undefined);
  };
