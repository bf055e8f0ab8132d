/** `/operator/v1/deployment-health`: which deployments the calls themselves have found to take none at this moment. */
import { deploymentTroubleSchema, troubleNamed } from '@gw/contract/internal/deployment-trouble';
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
    '`degraded`: its provider is out of reach; `saturated`: it says that it has too much to do',
  ),
  failures: shape.failures.describe('How many calls in a row it did not answer'),
  failed_at: z.iso.datetime().describe('When the last of them failed'),
  until: z.iso.datetime().describe('Until when pinned calls of the model are refused, unless it answers before'),
});
const healthSchema = listSchema(troubleSchema).extend({
  known: z.boolean().describe('False: Valkey is away, so nothing is known of any deployment'),
});

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
