/** `/operator/v1/accounts/{id}/issuer`: the identity provider with which the admins of an account log in. */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import { refuse } from '../../shared/replies.ts';
import { type AccountIssuer, issuerInput } from './account-issuers.ts';
import { answer, changeOf } from './change.ts';
import { recordOf } from './domain-record.ts';
import { idSchema, nameSchema } from './fields.ts';
import { personClaims } from './oidc-person.ts';
import { callbackPathOf } from './oidc-providers.ts';
import { notFound } from './refusals.ts';
import type { AccessServices } from './services.ts';

const issuerSchema = z
  .strictObject({
    object: z.literal('account_issuer'),
    account_id: z.string(),
    issuer: z.string(),
    client_id: z.string(),
    claim: z.enum(personClaims),
    domain: z.string(),
    callback_url: z.string().describe('To be registered at the provider'),
    dns_record: z
      .strictObject({ name: z.string(), type: z.literal('TXT'), value: z.string() })
      .describe('By which the domain says that it belongs to the account'),
    verified_at: z.iso.datetime().nullable().describe('Null: nobody can log in with it yet'),
    verified_by: z.enum(['dns', 'operator']).nullable(),
    set_at: z.iso.datetime(),
    readable: z.boolean().describe('False: the key that its secret was encrypted with is missing'),
  })
  .meta({ id: 'AccountIssuer' });

const viewer = { access: { kind: 'operator', role: 'viewer' }, reply: issuerSchema } as const;
const admin = { access: { kind: 'operator', role: 'admin' }, reply: issuerSchema } as const;
const params = z.object({ accountId: idSchema });
const verifyBody = z
  .strictObject({
    reason: nameSchema
      .exactOptional()
      .describe('Why the domain is believed to belong to the account, in place of the record in DNS'),
  })
  .nullish();

export function accountIssuerRoutes(base: FastifyInstance, context: Context, access: AccessServices): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const { accountIssuers, settings } = access;
  const path = '/operator/v1/accounts/:accountId/issuer';
  const viewOf = (row: AccountIssuer): z.infer<typeof issuerSchema> => ({
    object: 'account_issuer',
    account_id: row.accountId,
    issuer: row.issuer,
    client_id: row.clientId,
    claim: z.enum(personClaims).parse(row.claim),
    domain: row.domain,
    callback_url: `${settings.controlUrl}${callbackPathOf(row.accountId)}`,
    dns_record: recordOf(row),
    verified_at: row.verifiedAt?.toISOString() ?? null,
    verified_by: z.enum(['dns', 'operator']).nullable().parse(row.verifiedBy),
    set_at: row.setAt.toISOString(),
    readable: accountIssuers.settingsOf(row) !== null,
  });
  const shown = (outcome: Awaited<ReturnType<typeof accountIssuers.remove>>) =>
    outcome.ok ? ({ ok: true, value: viewOf(outcome.value) } as const) : outcome;

  app.get(path, { config: viewer, schema: { params } }, async (request, reply) => {
    const row = await context.db.accountIssuer.findUnique({ where: { accountId: request.params.accountId } });
    return row === null ? refuse(reply, notFound('account_issuer'), context.addresses) : viewOf(row);
  });

  app.put(path, { config: admin, schema: { params, body: issuerInput } }, async (request, reply) => {
    const { body, params: at } = request;
    return answer(reply, shown(await accountIssuers.set(changeOf(request, context), at.accountId, body)), context);
  });

  app.delete(path, { config: admin, schema: { params } }, async (request, reply) => {
    const { accountId } = request.params;
    return answer(reply, shown(await accountIssuers.remove(changeOf(request, context), accountId)), context);
  });

  app.post(`${path}/verify`, { config: admin, schema: { params, body: verifyBody } }, async (request, reply) => {
    const { body, params: at } = request;
    const change = changeOf(request, context);
    return answer(reply, shown(await accountIssuers.verify(change, at.accountId, body?.reason ?? null)), context);
  });
}
