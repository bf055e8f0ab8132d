/** `/operator/v1/secrets`: whether the secrets of the instance that answers fit the stored data. No reply holds one. */
import { listSchema } from '@gw/contract/list';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { comparedSecrets } from './facts.ts';
import { type SecretWatch, secretNames } from './watch.ts';

const reply = listSchema(
  z.strictObject({
    id: z.enum(secretNames).describe('The setting'),
    object: z.literal('secret'),
    verdict: z
      .enum(['fits', 'does_not_fit', 'nothing_to_compare', 'not_known'])
      .describe('`not_known`: the store of the data has not answered since the start'),
    held_by: z.string(),
    protects: z.string(),
    rotation: z.string(),
    loss: z.string(),
    compared_with: z.string(),
  }),
);

export function secretRoutes(app: FastifyInstance, watch: SecretWatch): void {
  app.get('/operator/v1/secrets', { config: { access: { kind: 'operator', role: 'admin' }, reply } }, async () => {
    await watch.refresh();
    const data = watch.verdicts().map(({ secret, verdict }) => ({
      id: secret,
      object: 'secret' as const,
      verdict,
      ...comparedSecrets[secret],
    }));
    return { object: 'list' as const, data };
  });
}
