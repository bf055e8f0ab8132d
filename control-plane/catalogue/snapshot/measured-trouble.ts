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

/** What holds at the moment `at`, by `troubleField`; null where Redis is away. */
export async function troublesAt(
  redis: Pick<Redis, 'hgetall'>,
  at: Date,
): Promise<ReadonlyMap<string, DeploymentTrouble> | null> {
  const texts = await redis.hgetall(deploymentTroublesKey).catch(() => null);
  if (texts === null) return null;
  const troubles = Object.entries(texts).map(([name, text]) => [name, troubleIn(text)] as const);
  return new Map(troubles.flatMap(([name, each]) => (each && each.until > at.getTime() ? [[name, each]] : [])));
}

export async function measuredTrouble(redis: Pick<Redis, 'hgetall'>, at: Date): Promise<TroubleOf> {
  const troubles = await troublesAt(redis, at);
  return (deployment, model) => troubles?.get(troubleField(deployment, model)) ?? null;
}

/** What another release has written and cannot be read here counts as nothing. */
function troubleIn(text: string): DeploymentTrouble | null {
  try {
    return deploymentTroubleSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
