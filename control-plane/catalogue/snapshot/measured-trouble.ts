/** Reads which deployments the sidecars found unable to take calls. It fails open: without Redis there are none. */
import {
  type DeploymentTrouble,
  deploymentTroubleSchema,
  troubleField,
} from '@gw/contract/internal/deployment-trouble';
import { jsonIn } from '@gw/contract/internal/json-in';
import { deploymentTroublesKey } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';

/** Returns what is measured of a deployment's calls of a model; null if it takes them. */
export type TroubleOf = (deployment: string, model: string) => DeploymentTrouble | null;

/** Returns the troubles that hold at `at`, by `troubleField`; null if Redis is unavailable. */
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

/** Returns null for a text that another release has written and this one cannot read. */
const troubleIn = (text: string): DeploymentTrouble | null =>
  deploymentTroubleSchema.safeParse(jsonIn(text)).data ?? null;
