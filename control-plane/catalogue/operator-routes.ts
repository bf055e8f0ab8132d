/**
 * `/operator/v1/models`, `/regions`, `/providers`, `/deployments`, `/aliases`, `/prices` and `/energy-contracts`: the catalogue as operators look after it;
 * `/operator/v1/catalogue`: all of it in one document.
 */
import { pageOf, pageSchema } from '@gw/contract/list';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answer, changeOf } from '../people/access/change.ts';
import { notFound } from '../people/access/refusals.ts';
import type { Context } from '../shared/context.ts';
import { refuse } from '../shared/replies.ts';
import { aliasKind } from './entries/alias-entry.ts';
import { catalogueDocumentSchema, catalogueImportSchema, writtenSchema } from './entries/catalogue-document.ts';
import { deploymentKind } from './entries/deployment-entry.ts';
import { energyContractKind } from './entries/energy-contract-entry.ts';
import { lastChangeSchema, openEntries } from './entries/entries.ts';
import type { EntryKind } from './entries/entry-kind.ts';
import { modelKind } from './entries/model-entry.ts';
import { priceKind } from './entries/price-entry.ts';
import { providerKind } from './entries/provider-entry.ts';
import { regionKind } from './entries/region-entry.ts';
import type { Surroundings } from './entries/surroundings.ts';
import { importCatalogue, writtenCatalogue } from './entries/whole-catalogue.ts';

const viewer = { access: { kind: 'operator', role: 'viewer' } } as const;
const admin = { access: { kind: 'operator', role: 'admin' } } as const;

/** `onChange` is called after each reply that says that something may have changed. */
export function catalogueOperatorRoutes(
  app: FastifyInstance,
  context: Context,
  around: Surroundings,
  onChange: () => void,
): void {
  app.register(async (routes) => {
    routes.addHook('onResponse', async ({ method }, { statusCode }) => {
      if (method !== 'GET' && statusCode === 200) onChange();
    });
    entryRoutes(routes, context, modelKind, around);
    entryRoutes(routes, context, regionKind, around);
    entryRoutes(routes, context, providerKind, around);
    entryRoutes(routes, context, deploymentKind, around);
    entryRoutes(routes, context, aliasKind, around);
    entryRoutes(routes, context, priceKind, around);
    entryRoutes(routes, context, energyContractKind, around);
    documentRoutes(routes, context, around);
  });
}

/** A catalogue of thousands of entries. */
const bodyLimit = 8 * 1024 * 1024;
const importQuery = z.strictObject({
  dry_run: z.enum(['true', 'false']).default('false').describe('Whether it only says what it would change'),
});

function documentRoutes(app: FastifyInstance, context: Context, around: Surroundings): void {
  const path = '/operator/v1/catalogue';
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get(path, { config: { ...viewer, reply: writtenSchema } }, () => writtenCatalogue(context));
  typed.put(
    path,
    {
      bodyLimit,
      config: { ...admin, reply: catalogueImportSchema },
      schema: { body: catalogueDocumentSchema, querystring: importQuery },
    },
    async (request, reply) => {
      const isDryRun = request.query.dry_run === 'true';
      const options = { context, around, change: changeOf(request, context), isDryRun };
      return answer(reply, await importCatalogue(request.body, options), context);
    },
  );
}

function entryRoutes<Entry extends object>(
  app: FastifyInstance,
  context: Context,
  kind: EntryKind<Entry>,
  around: Surroundings,
): void {
  const entries = openEntries(context, kind, around);
  const { addBody, changeBody, idSchema, name, path, shown } = kind;
  const viewed = shown.extend({
    object: z.literal(name),
    ...(kind.rows.changes && { last_change: lastChangeSchema }),
    warnings: z.array(z.string()).describe('What will not work as one may expect'),
  });
  const removed = z.strictObject({ id: idSchema, object: z.literal(name), deleted: z.literal(true) });
  const changed = { ...admin, reply: viewed };
  // A wildcard, because the id of a model may hold slashes, raw or as %2F.
  const one = `${path}/*`;
  type One = FastifyRequest<{ Params: { '*': string } }>;
  const unknown = (reply: FastifyReply) => refuse(reply, notFound(name), context.addresses);
  /** Returns null if this cannot be the id of anything. */
  const idIn = (request: One): string | null => idSchema.safeParse(request.params['*']).data ?? null;

  app.get(path, { config: { ...viewer, reply: pageSchema(viewed) } }, async () =>
    pageOf(await entries.list(), kind.idOf),
  );

  app.get(one, { config: { ...viewer, reply: viewed } }, async (request: One, reply) => {
    const id = idIn(request);
    return (id === null ? null : await entries.read(id)) ?? unknown(reply);
  });

  app.post(path, { config: changed, schema: { body: addBody } }, async (request, reply) =>
    answer(reply, await entries.add(changeOf(request, context), request.body), context),
  );

  app.patch(one, { config: changed, schema: { body: changeBody } }, async (request: One, reply) => {
    const id = idIn(request);
    if (id === null) return unknown(reply);
    return answer(reply, await entries.change(changeOf(request, context), id, request.body), context);
  });

  app.delete(one, { config: { ...admin, reply: removed } }, async (request: One, reply) => {
    const id = idIn(request);
    if (id === null) return unknown(reply);
    return answer(reply, await entries.remove(changeOf(request, context), id), context);
  });
}
