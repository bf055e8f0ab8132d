/** `/operator/v1/operators`: the platform team looks after itself. */
import { listSchema } from '@gw/contract/list';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import { operatorOf, operatorRoles } from '../../shared/principal.ts';
import { refuse } from '../../shared/replies.ts';
import { answer, changeOf } from './change.ts';
import { emailSchema, idSchema, nameSchema, noBody, subjectBody } from './fields.ts';
import { refusalOfRole } from './guard.ts';
import { issuerNameOf } from './oidc-issuer.ts';
import { createToken, listTokens, revokeToken, tokenSchema, tokenWithPlaintextSchema } from './operator-tokens.ts';
import { listedOperatorSchema, openOperators, operatorSchema, operatorWithCredentialSchema } from './operators.ts';
import { noIssuer, notYours, roleNeeded } from './refusals.ts';
import type { AccessServices } from './services.ts';

const viewer = { access: { kind: 'operator', role: 'viewer' } } as const;
const admin = { access: { kind: 'operator', role: 'admin' } } as const;
const params = z.object({ id: idSchema });
const createBody = z.strictObject({ name: nameSchema, email: emailSchema, role: z.enum(operatorRoles) });
const updateBody = z
  .strictObject({ name: nameSchema.exactOptional(), role: z.enum(operatorRoles).exactOptional() })
  .refine((body) => Object.keys(body).length > 0, 'names nothing to change');
const tokenBody = z.strictObject({ name: nameSchema, days: z.int().min(1).max(365).default(90) });

export function operatorRoutes(
  base: FastifyInstance,
  context: Context,
  { credentials, settings }: AccessServices,
): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const operators = openOperators(context, credentials);
  const path = '/operator/v1/operators';

  app.get(path, { config: { ...viewer, reply: listSchema(listedOperatorSchema) } }, async () => ({
    object: 'list',
    data: await operators.list(),
  }));

  const withCredential = { ...admin, reply: operatorWithCredentialSchema };
  const changed = { ...admin, reply: operatorSchema };
  app.post(path, { config: withCredential, schema: { body: createBody } }, async (request, reply) =>
    answer(reply, await operators.create(changeOf(request, context), request.body), context),
  );

  app.patch(`${path}/:id`, { config: changed, schema: { params, body: updateBody } }, async (request, reply) =>
    answer(reply, await operators.update(changeOf(request, context), request.params.id, request.body), context),
  );

  for (const [verb, enabled] of [
    ['disable', false],
    ['enable', true],
  ] as const)
    app.post(`${path}/:id/${verb}`, { config: changed, schema: { params, body: noBody } }, async (request, reply) =>
      answer(reply, await operators.setEnabled(changeOf(request, context), request.params.id, enabled), context),
    );

  app.post(
    `${path}/:id/reset-credential`,
    { config: withCredential, schema: { params, body: noBody } },
    async (request, reply) =>
      answer(reply, await operators.resetCredential(changeOf(request, context), request.params.id), context),
  );

  app.post(
    `${path}/:id/unbind-identity`,
    { config: changed, schema: { params, body: noBody } },
    async (request, reply) =>
      answer(reply, await operators.unbindIdentity(changeOf(request, context), request.params.id), context),
  );

  const { oidc } = settings;
  app.post(
    `${path}/:id/bind-identity`,
    { config: changed, schema: { params, body: subjectBody } },
    async (request, reply) => {
      if (oidc === null) return refuse(reply, noIssuer(), context.addresses);
      const identity = { issuer: issuerNameOf(oidc.issuer), subject: request.body.subject };
      const change = changeOf(request, context);
      return answer(reply, await operators.bindIdentity(change, request.params.id, identity), context);
    },
  );

  tokenRoutes(app, context, `${path}/:id/tokens`);
}

/** Everybody looks after their own tokens, and an admin can read and end those of others; nobody makes them for others. */
function tokenRoutes(base: FastifyInstance, context: Context, path: string): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const neededFor = (request: FastifyRequest, owner: string) =>
    operatorOf(request).id === owner ? viewer.access : admin.access;
  const mayEnd = (request: FastifyRequest, owner: string): boolean =>
    refusalOfRole(neededFor(request, owner), operatorOf(request)) === null;

  app.get(
    path,
    { config: { ...viewer, reply: listSchema(tokenSchema) }, schema: { params } },
    async (request, reply) => {
      const { id } = request.params;
      if (!mayEnd(request, id)) return refuse(reply, roleNeeded('admin'), context.addresses);
      return { object: 'list', data: await listTokens(context, id) };
    },
  );

  app.post(
    path,
    { config: { ...viewer, reply: tokenWithPlaintextSchema }, schema: { params, body: tokenBody } },
    async (request, reply) => {
      const { id: operatorId } = request.params;
      if (operatorOf(request).id !== operatorId) return refuse(reply, notYours(), context.addresses);
      const wanted = { ...request.body, operatorId };
      return answer(reply, await createToken(context, changeOf(request, context), wanted), context);
    },
  );

  const tokenParams = params.extend({ token_id: idSchema });
  app.delete(
    `${path}/:token_id`,
    { config: { ...viewer, reply: tokenSchema }, schema: { params: tokenParams } },
    async (request, reply) => {
      const { id, token_id: tokenId } = request.params;
      if (!mayEnd(request, id)) return refuse(reply, roleNeeded('admin'), context.addresses);
      const change = { ...changeOf(request, context), access: neededFor(request, id) };
      return answer(reply, await revokeToken(context, change, id, tokenId), context);
    },
  );
}
