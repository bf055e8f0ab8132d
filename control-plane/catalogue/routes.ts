/** `/v1/models*`, `/v1/regions*` and `/v1/use-policy`: from the snapshot in memory, so that they answer while Postgres and Redis are away. */
import { type ModelObject, modelListSchema, modelSchema, regionListSchema, regionSchema } from '@gw/contract/catalogue';
import { apiError, fieldError } from '@gw/contract/errors';
import { inferenceQuerySchema, type ModelsQuery, modelsQuerySchema } from '@gw/contract/inference-query';
import { type Policy, policySchema } from '@gw/contract/internal/policy-rules';
import type { Snapshot } from '@gw/contract/internal/snapshot';
import { pageOf } from '@gw/contract/list';
import { type PublishedRule, usePolicySchema } from '@gw/contract/use-policy';
import { defaultPolicy } from '@gw/policy/default-rules';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../shared/context.ts';
import { identityOf } from '../shared/identity.ts';
import { refuse } from '../shared/replies.ts';
import type { CatalogueView } from './snapshot/keeper.ts';
import { measuredTrouble } from './snapshot/measured-trouble.ts';
import { modelObjects, regionObject } from './snapshot/objects.ts';

export function catalogueRoutes(app: FastifyInstance, context: Context, catalogue: CatalogueView): void {
  const { addresses, now, redis } = context;
  const snapshot = (): Snapshot => {
    const held = catalogue.current();
    if (held === null) throw new Error('the catalogue was not read yet');
    return held.snapshot;
  };

  const schema = { querystring: inferenceQuerySchema };
  app.get<{ Querystring: ModelsQuery }>(
    '/v1/models',
    { config: { reply: modelListSchema }, schema: { querystring: modelsQuerySchema } },
    (request, reply) => {
      const models = modelObjects(snapshot(), identityOf(request).models);
      const page = modelPage(models, request.query);
      return page ?? refuse(reply, fieldError('after_id', '`after_id` names no model of the list.'), addresses);
    },
  );

  // A wildcard, because the id may hold slashes, raw or as %2F; the router decodes it once.
  app.get<{ Params: { '*': string } }>('/v1/models/*', { config: { reply: modelSchema }, schema }, (request, reply) => {
    const id = request.params['*'];
    const models = modelObjects(snapshot(), identityOf(request).models);
    const model = models.find((each) => each.id === id);
    if (model) return model;
    const meant = id.split('/').filter(Boolean).join('/');
    const message = `There is no model \`${id.slice(0, 256)}\`: the path has an extra slash. Use /v1/models/${meant}.`;
    const hint = models.some((each) => each.id === meant) ? { message } : {};
    return refuse(reply, apiError('invalid_model', { status: 404, param: 'model', ...hint }), addresses);
  });

  app.get('/v1/regions', { config: { reply: regionListSchema } }, async (request) => {
    const { models } = identityOf(request);
    const current = snapshot();
    const requestedAt = now();
    const at = { requestedAt, troubleOf: await measuredTrouble(redis, requestedAt) };
    return pageOf(
      current.regions.map((region) => regionObject(current, region, models, at)),
      (region) => region.code,
    );
  });

  app.get('/v1/use-policy', { config: { reply: usePolicySchema } }, (request) => {
    const { exemptions, rules, sha256, version } = policyOf(snapshot());
    const exempt = exemptions[identityOf(request).accountId] ?? [];
    const held = rules.filter(({ enabled, id }) => enabled && !exempt.includes(id));
    return { ...pageOf(held.map(published), ({ id }) => id), version, sha256 };
  });

  app.get<{ Params: { code: string } }>(
    '/v1/regions/:code',
    { config: { reply: regionSchema } },
    async (request, reply) => {
      const { models } = identityOf(request);
      const current = snapshot();
      const region = current.regions.find((each) => each.code === request.params.code);
      if (region === undefined)
        return refuse(reply, apiError('invalid_region', { status: 404, param: 'region_code' }), addresses);
      const requestedAt = now();
      const troubleOf = await measuredTrouble(redis, requestedAt);
      return regionObject(current, region, models, { requestedAt, troubleOf });
    },
  );
}

/** Returns null if `after_id` names none of the models. */
function modelPage(models: readonly ModelObject[], { after_id: after, limit = models.length }: ModelsQuery) {
  const from = after === undefined ? 0 : models.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && from === 0) return null;
  return pageOf(models.slice(from, from + limit), ({ id }) => id, from + limit < models.length);
}

/** A set that this release cannot read is not in force at the sidecars either, which then screen by what they have. */
function policyOf({ policy }: Snapshot): Policy {
  const read = policySchema.safeParse(policy);
  return read.success ? read.data : defaultPolicy;
}

const published = ({ action, id, kind, screen, title }: Policy['rules'][number]): PublishedRule => ({
  id,
  object: 'use_policy.rule',
  title,
  kind,
  screen,
  action,
});
