/** What sidecars measure of deployments that cannot take calls. Fail-open: where Redis is away nothing is measured. */
import {
  type DeploymentTrouble,
  deploymentTroubleSchema,
  troubleField,
} from '@gw/contract/internal/deployment-trouble';
import { deploymentTroublesKey } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';

/** Returns what is measured of a deployment's calls of a model; null if it takes them. */
export type TroubleOf = (deployment: string, model: string) => DeploymentTrouble | null;

/** What holds at the moment `at`. */
export async function measuredTrouble(redis: Pick<Redis, 'hgetall'>, at: Date): Promise<TroubleOf> {
  const texts = await redis.hgetall(deploymentTroublesKey).catch((): Record<string, string> => ({}));
  const troubles = new Map(Object.entries(texts).map(([name, text]) => [name, troubleIn(text)]));
  return (deployment, model) => {
    const trouble = troubles.get(troubleField(deployment, model)) ?? null;
    return trouble && trouble.until > at.getTime() ? trouble : null;
  };
}

/** What another release has written and cannot be read here counts as nothing. */
function troubleIn(text: string): DeploymentTrouble | null {
  try {
    return deploymentTroubleSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
