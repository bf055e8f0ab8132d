/** What sidecars measure of deployments that cannot take calls. Fail-open: where Redis is away nothing is measured. */
import { deploymentTroubleSchema } from '@gw/contract/internal/deployment-trouble';
import { deploymentTroubleKey } from '@gw/contract/internal/redis';
import type { SnapshotDeployment } from '@gw/contract/internal/snapshot';
import type { Redis } from 'ioredis';
import type { TroubleOf } from './objects.ts';

export async function measuredTrouble(redis: Redis, deployments: readonly SnapshotDeployment[]): Promise<TroubleOf> {
  if (deployments.length === 0) return () => null;
  const ids = deployments.map(({ id }) => id);
  const texts = await redis.mget(ids.map(deploymentTroubleKey)).catch(() => []);
  const troubles = new Map(ids.map((id, at) => [id, troubleIn(texts[at] ?? null)]));
  return (id) => troubles.get(id) ?? null;
}

/** What another release has written and cannot be read here counts as nothing. */
function troubleIn(text: string | null): ReturnType<TroubleOf> {
  try {
    return text === null ? null : deploymentTroubleSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
