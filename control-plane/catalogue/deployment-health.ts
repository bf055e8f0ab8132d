/** `/operator/v1/deployment-health`: deployments that calls have found unable to take more at this moment. */
import { deploymentTroubleSchema, troubleNamed } from '@gw/contract/internal/deployment-trouble';
import { operatorFaults } from '@gw/contract/internal/operator-faults';
import { listSchema } from '@gw/contract/list';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Context } from '../shared/context.ts';
import { troublesAt } from './snapshot/measured-trouble.ts';

const { shape } = deploymentTroubleSchema;
const troubleSchema = z.strictObject({
  object: z.literal('deployment_trouble'),
  deployment: z.string(),
  model: z.string(),
  status: shape.status.describe(
    '`degraded`: the provider cannot be reached; `saturated`: the provider reports overload; `auth_failed`, `quota_exhausted`, `model_missing`: the deployment needs its operator, because the provider refuses the credential, has no credit left for it, or does not have the model',
  ),
  failures: shape.failures.describe('Number of consecutive calls that failed'),
  failed_at: z.iso.datetime().describe('When the last of these calls failed'),
  until: z.iso
    .datetime()
    .describe(
      'When this entry expires, unless a call succeeds before. While the status is `degraded` or `saturated`, pinned calls of the model are refused until then',
    ),
});
const healthSchema = listSchema(troubleSchema).extend({
  known: z.boolean().describe('False if Valkey is unavailable: then nothing is known about any deployment'),
});

/** Returns how many deployments need their operator; null if Redis is unavailable. */
export async function deploymentsNeedingOperator({
  now,
  redis,
}: Pick<Context, 'now' | 'redis'>): Promise<number | null> {
  const troubles = await troublesAt(redis, now());
  if (troubles === null) return null;
  const faults: ReadonlySet<string> = new Set(operatorFaults);
  const needing = [...troubles].filter(([, { status }]) => faults.has(status));
  return new Set(needing.map(([name]) => troubleNamed(name).deployment)).size;
}

export function deploymentHealthRoute(app: FastifyInstance, { now, redis }: Context): void {
  const config = { access: { kind: 'operator', role: 'viewer' }, reply: healthSchema } as const;
  app.get('/operator/v1/deployment-health', { config }, async () => {
    const troubles = await troublesAt(redis, now());
    const data = [...(troubles ?? [])].map(([name, { at, failures, status, until }]) => ({
      object: 'deployment_trouble' as const,
      ...troubleNamed(name),
      status,
      failures,
      failed_at: new Date(at).toISOString(),
      until: new Date(until).toISOString(),
    }));
    return { object: 'list' as const, data, known: troubles !== null };
  });
}
