/** `/operator/v1/erasures`: what an erasure would destroy, the erasure itself, and those that were decided. */
import { fieldError } from '@gw/contract/errors';
import { listSchema } from '@gw/contract/list';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answer, changeOf } from '../../people/access/change.ts';
import { idSchema } from '../../people/access/fields.ts';
import type { ChangeResult } from '../../people/access/refusals.ts';
import type { Context } from '../../shared/context.ts';
import { refuse } from '../../shared/replies.ts';
import { type ErasurePreview, erase, listErasures, previewErasure } from './erase.ts';

const path = '/operator/v1/erasures';
const kind = z.enum(['account', 'person']).describe('`person`: an operator, or an admin of an organisation');
const count = z.int().nonnegative();
const previewSchema = z
  .strictObject({
    object: z.literal('erasure'),
    kind: z.enum(['account', 'operator', 'organisation_admin']),
    id: z.string(),
    erased_at: z.iso.datetime().nullable().describe('Null if it is not erased'),
    held: z.string().nullable().describe('The reason of the legal hold that forbids the erasure; null without one'),
    people: count.describe('People who lose their name, e-mail, credential and second factor'),
    sessions: count,
    operator_tokens: count,
    api_keys: count.describe('Keys that are not revoked'),
    evidence_packs: count,
    webhooks: count,
  })
  .meta({ id: 'Erasure' });
const decidedSchema = z.strictObject({
  kind: z.enum(['account', 'operator', 'organisation_admin']),
  id: z.string(),
  decided_at: z.iso.datetime(),
  done_at: z.iso.datetime().nullable().describe('Null while a job still has steps to do'),
});

export function eraseRoutes(base: FastifyInstance, context: Context): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const access = { kind: 'operator', role: 'admin' } as const;
  const one = { config: { access, reply: previewSchema } };

  app.get(path, { config: { access, reply: listSchema(decidedSchema) } }, async () => ({
    object: 'list',
    data: (await listErasures(context.db)).map(({ decided_at, done_at, subject }) => {
      const [kind, id] = subject.split(':');
      return { kind, id, decided_at: decided_at.toISOString(), done_at: done_at?.toISOString() ?? null };
    }),
  }));

  const params = z.object({ kind, id: idSchema });
  app.get(`${path}/:kind/:id`, { ...one, schema: { params } }, async (request, reply) =>
    answer(reply, viewOf(await previewErasure(context, request.params)), context),
  );

  const body = z.strictObject({
    confirm: z.string().describe('The id again; an erasure cannot be undone'),
  });
  app.post(`${path}/:kind/:id`, { ...one, schema: { params, body } }, async (request, reply) => {
    if (request.body.confirm !== request.params.id)
      return refuse(reply, fieldError('confirm', 'confirm: must be the id in the path.'), context.addresses);
    return answer(reply, viewOf(await erase(context, changeOf(request, context), request.params)), context);
  });
}

const viewOf = (outcome: ChangeResult<ErasurePreview>): ChangeResult<z.infer<typeof previewSchema>> =>
  outcome.ok
    ? {
        ...outcome,
        value: { object: 'erasure', ...outcome.value, erased_at: outcome.value.erased_at?.toISOString() ?? null },
      }
    : outcome;
