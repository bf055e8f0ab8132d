/** `/operator/v1/legal-holds`: what nobody may remove for now, and why. */
import { listSchema } from '@gw/contract/list';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answer, changeOf } from '../../people/access/change.ts';
import { idSchema } from '../../people/access/fields.ts';
import type { Context } from '../../shared/context.ts';
import { type HoldRow, liftHold, listHolds, placeHold } from './holds.ts';

const path = '/operator/v1/legal-holds';
const reason = z.string().trim().min(1).max(500);
const holdSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('legal_hold'),
    account: z.string().nullable().describe('Null: all accounts'),
    reason: z.string(),
    placed_at: z.iso.datetime(),
    placed_by: z.string().describe('Id of the operator'),
    lifted: z
      .strictObject({ at: z.iso.datetime(), by: z.string(), reason: z.string() })
      .nullable()
      .describe('Null while it is in force'),
  })
  .meta({ id: 'LegalHold' });
const query = z.object({ state: z.enum(['open', 'all']).default('open').describe('`open`: only those in force') });
const placeBody = z.strictObject({
  account: idSchema.nullable().describe('Null: all accounts'),
  reason,
});

export function holdRoutes(base: FastifyInstance, context: Context): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const admin = { access: { kind: 'operator', role: 'admin' }, reply: holdSchema } as const;
  const viewer = { access: { kind: 'operator', role: 'viewer' }, reply: listSchema(holdSchema) } as const;

  app.get(path, { config: viewer, schema: { querystring: query } }, async (request) => ({
    object: 'list',
    data: (await listHolds(context.db, request.query.state === 'open')).map(viewOf),
  }));

  app.post(path, { config: admin, schema: { body: placeBody } }, async (request, reply) => {
    const { account, reason } = request.body;
    const outcome = await placeHold(context, changeOf(request, context), { accountId: account, reason });
    return answer(reply, outcome.ok ? { ...outcome, value: viewOf(outcome.value) } : outcome, context);
  });

  const lift = { params: z.object({ id: idSchema }), body: z.strictObject({ reason }) };
  app.post(`${path}/:id/lift`, { config: admin, schema: lift }, async (request, reply) => {
    const wanted = { id: request.params.id, reason: request.body.reason };
    const outcome = await liftHold(context, changeOf(request, context), wanted);
    return answer(reply, outcome.ok ? { ...outcome, value: viewOf(outcome.value) } : outcome, context);
  });
}

const viewOf = (row: HoldRow): z.infer<typeof holdSchema> => ({
  id: row.id,
  object: 'legal_hold',
  account: row.account_id,
  reason: row.reason,
  placed_at: row.placed_at.toISOString(),
  placed_by: row.placed_by,
  lifted:
    row.lifted_at === null || row.lifted_by === null || row.lift_reason === null
      ? null
      : { at: row.lifted_at.toISOString(), by: row.lifted_by, reason: row.lift_reason },
});
