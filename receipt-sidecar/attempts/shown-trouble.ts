/**
 * Shows in Redis which deployments cannot take calls, for `GET /v1/regions`.
 *
 * Invariant: fail-open. Where Redis is away nothing is shown, and each entry says until when it holds. A sidecar takes back only what
 * it has shown itself, since another one may find the same.
 */
import type { DeploymentTrouble } from '@gw/contract/internal/deployment-trouble';
import { deploymentTroublesKey } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';
import type { Trouble } from './measured-trouble.ts';

/** Longer than any trouble holds by itself, ms. */
const keptMs = 120_000;

/** `now`: ms since 1970. */
export function showTrouble(redis: Redis, now: () => number) {
  const shown = new Set<string>();
  return (name: string, trouble: Trouble | null): void => {
    if (trouble === null) {
      if (shown.delete(name)) redis.hdel(deploymentTroublesKey, name).catch(() => undefined);
      return;
    }
    shown.add(name);
    const { failures, forMs, status } = trouble;
    const at = now();
    const entry: DeploymentTrouble = { status, failures, at, until: at + forMs };
    const written = redis.multi().hset(deploymentTroublesKey, name, JSON.stringify(entry));
    written
      .pexpire(deploymentTroublesKey, keptMs)
      .exec()
      .catch(() => undefined);
  };
}
