/** `/operator/v1/accounts`: accounts, and the people of a customer who have a login. */
import { accountTiers, shadowLimits } from '@gw/contract/access';
import { toleranceSchema } from '@gw/contract/gw-options';
import { listSchema, pageOf, pageSchema } from '@gw/contract/list';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answer, changeOf } from '../../people/access/change.ts';
import { emailSchema, idSchema, nameSchema, noBody, subjectBody } from '../../people/access/fields.ts';
import { notFound } from '../../people/access/refusals.ts';
import type { AccessServices } from '../../people/access/services.ts';
import type { Context } from '../../shared/context.ts';
import { refuse } from '../../shared/replies.ts';
import { accountSchema, someSettingsSchema } from './account-view.ts';
import { openAccounts } from './accounts.ts';
import {
  adminSchema,
  adminWithCredentialSchema,
  listedAdminSchema,
  openOrganisationAdmins,
} from './organisation-admins.ts';

const accessOf = (role: 'viewer' | 'support' | 'admin') => ({ access: { kind: 'operator', role } }) as const;
const [viewer, support, admin] = [accessOf('viewer'), accessOf('support'), accessOf('admin')];

const params = z.object({ accountId: idSchema });
const adminParams = params.extend({ id: idSchema });
const reasonBody = z.strictObject({ reason: nameSchema });
const reinstateBody = reasonBody.extend({ accepts_match: z.boolean().default(false) });
/** A positive number that Postgres can hold as an integer. */
const count = z.int().min(1).max(2_147_483_647);
/** Envoy hands the list on as a header, and takes 32 kB of headers in all. */
const mostModelBytes = 16_384;
const updateBody = z
  .strictObject({
    name: nameSchema.exactOptional(),
    tier: z.enum(accountTiers).exactOptional(),
    limits: z
      .strictObject({ per_s: count, burst: count, per_day: count, streams: count.nullable().exactOptional() })
      .nullable()
      .exactOptional(),
    tokens: z
      .strictObject({ per_minute: count.nullable().exactOptional(), per_day: count.nullable().exactOptional() })
      .exactOptional(),
    shadow: z
      .array(z.enum(shadowLimits))
      .refine((set) => new Set(set).size === set.length, 'names a limit twice')
      // In the order in which they are stored and shown, so that the same set is no change.
      .transform((set) => shadowLimits.filter((limit) => set.includes(limit)))
      .exactOptional(),
    models: z
      .array(z.string().min(1).max(200))
      .max(1000)
      .refine(
        (list) => Buffer.byteLength(JSON.stringify(list)) <= mostModelBytes,
        `has more than ${mostModelBytes} bytes as JSON`,
      )
      .nullable()
      .exactOptional(),
    tolerance: z
      .strictObject({
        added_latency_ms: toleranceSchema.nullable().exactOptional(),
        added_cost_percent: toleranceSchema.nullable().exactOptional(),
      })
      .exactOptional(),
    usage_impacts: z.boolean().exactOptional(),
    reason: nameSchema.exactOptional(),
    seen: someSettingsSchema
      .exactOptional()
      .describe('Settings as they were seen; if one of them is another meanwhile, nothing is changed (409)'),
  })
  .refine(({ reason: _, seen: __, ...change }) => Object.keys(change).length > 0, 'names nothing to change');
const listQuery = z.object({
  state: z.enum(['onboarding', 'active', 'suspended', 'closed']).optional(),
  tier: z.enum(accountTiers).optional(),
  search: nameSchema.optional(),
  after: idSchema.optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});
const path = '/operator/v1/accounts';

export function accountRoutes(base: FastifyInstance, context: Context): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const accounts = openAccounts(context);

  const account = { reply: accountSchema };

  app.get(
    path,
    { config: { ...viewer, reply: pageSchema(accountSchema) }, schema: { querystring: listQuery } },
    async ({ query }) => {
      const { data, hasMore } = await accounts.list(query);
      return pageOf(data, ({ id }) => id, hasMore);
    },
  );

  app.get(`${path}/:accountId`, { config: { ...viewer, ...account }, schema: { params } }, async (request, reply) => {
    const account = await accounts.read(request.params.accountId);
    return account ?? refuse(reply, notFound('account'), context.addresses);
  });

  // Whoever sees a danger may stop an account; that it is over, also what a screening found, an admin has to decide.
  app.post(
    `${path}/:accountId/suspend`,
    { config: { ...support, ...account }, schema: { params, body: reasonBody } },
    async (request, reply) => {
      const { body, params: at } = request;
      return answer(reply, await accounts.suspend(changeOf(request, context), at.accountId, body.reason), context);
    },
  );
  app.post(
    `${path}/:accountId/reinstate`,
    { config: { ...admin, ...account }, schema: { params, body: reinstateBody } },
    async (request, reply) => {
      const { accountId } = request.params;
      const { accepts_match: acceptsMatch, reason } = request.body;
      const change = changeOf(request, context);
      return answer(reply, await accounts.reinstate(change, accountId, reason, acceptsMatch), context);
    },
  );

  app.patch(
    `${path}/:accountId`,
    { config: { ...admin, ...account }, schema: { params, body: updateBody } },
    async (request, reply) => {
      const { reason, seen, ...wanted } = request.body;
      const { accountId } = request.params;
      const change = changeOf(request, context);
      return answer(reply, await accounts.update(change, accountId, wanted, { reason, seen }), context);
    },
  );
}

export function organisationAdminRoutes(
  base: FastifyInstance,
  context: Context,
  { credentials }: AccessServices,
): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const admins = openOrganisationAdmins(context, credentials);
  const list = `${path}/:accountId/admins`;

  app.get(
    list,
    { config: { ...viewer, reply: listSchema(listedAdminSchema) }, schema: { params } },
    async (request, reply) => {
      const data = await admins.list(request.params.accountId);
      return data === null ? refuse(reply, notFound('account'), context.addresses) : { object: 'list', data };
    },
  );

  const body = z.strictObject({ name: nameSchema, email: emailSchema });
  const withCredential = { ...admin, reply: adminWithCredentialSchema };
  app.post(list, { config: withCredential, schema: { params, body } }, async (request, reply) =>
    answer(reply, await admins.create(changeOf(request, context), request.params.accountId, request.body), context),
  );

  const schema = { params: adminParams, body: noBody };
  for (const [verb, config, enabled] of [
    ['disable', support, false],
    ['enable', admin, true],
  ] as const)
    app.post(`${list}/:id/${verb}`, { config: { ...config, reply: adminSchema }, schema }, async (request, reply) => {
      const { accountId, id } = request.params;
      return answer(reply, await admins.setEnabled(changeOf(request, context), accountId, id, enabled), context);
    });

  const changed = { ...admin, reply: adminSchema };
  app.post(
    `${list}/:id/bind-identity`,
    { config: changed, schema: { params: adminParams, body: subjectBody } },
    async (request, reply) => {
      const { accountId, id } = request.params;
      const change = changeOf(request, context);
      return answer(reply, await admins.bindIdentity(change, accountId, id, request.body.subject), context);
    },
  );
  app.post(`${list}/:id/unbind-identity`, { config: changed, schema }, async (request, reply) => {
    const { accountId, id } = request.params;
    return answer(reply, await admins.unbindIdentity(changeOf(request, context), accountId, id), context);
  });

  app.post(`${list}/:id/reset-credential`, { config: withCredential, schema }, async (request, reply) => {
    const { accountId, id } = request.params;
    return answer(reply, await admins.resetCredential(changeOf(request, context), accountId, id), context);
  });
}
