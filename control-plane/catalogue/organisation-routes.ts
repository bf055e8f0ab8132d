/** `GET /organisation/v1/models`: what the keys of an account can call, as `GET /v1/models` tells them. */
import { modelListSchema } from '@gw/contract/catalogue';
import { apiError } from '@gw/contract/errors';
import { pageOf } from '@gw/contract/list';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../shared/context.ts';
import { organisationAdminOf } from '../shared/principal.ts';
import { refuse } from '../shared/replies.ts';
import type { CatalogueView } from './snapshot/keeper.ts';
import { modelObjects } from './snapshot/objects.ts';

export function organisationRoutes(app: FastifyInstance, { addresses, db }: Context, catalogue: CatalogueView): void {
  const config = { access: { kind: 'organisation_admin' }, reply: modelListSchema } as const;
  app.get('/organisation/v1/models', { config }, async (request, reply) => {
    const { accountId: id } = organisationAdminOf(request);
    const held = catalogue.current();
    const account = await db.account.findUnique({ where: { id }, select: { models: true } });
    if (held === null || account === null) return refuse(reply, apiError('overloaded'), addresses);
    return pageOf(modelObjects(held.snapshot, account.models as string[] | null), (model) => model.id);
  });
}
