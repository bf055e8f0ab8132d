/**
 * The audit log of an account for those who belong to it: `/v1/audit-log` for programs, `/organisation/v1/audit-log` for
 * people.
 *
 * Invariant: the customer sees each entry of their own chain as it was hashed, and so can verify the chain. An entry that the gateway
 * has not written, or not so, is named in its place and not shown; the entries behind it are. What the screening
 * of an application found about a customer is not told to the customer: it stands in the operators' chain (customers/onboarding/write-step.ts), and
 * nothing that an account may not see may be written into its chain.
 */

import { type AuditEntryObject, type AuditQuery, auditListSchema, auditQuerySchema } from '@gw/contract/audit';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Context } from '../../shared/context.ts';
import { identityOf } from '../../shared/identity.ts';
import { organisationAdminOf } from '../../shared/principal.ts';
import { auditFault, readAudit, type StoredAudit } from './read.ts';

const prefix = 'audit_';

export function auditRoutes(app: FastifyInstance, context: Context): void {
  app
    .withTypeProvider<ZodTypeProvider>()
    .get(
      '/v1/audit-log',
      { config: { reply: auditListSchema, keepsHiddenNames: true }, schema: { querystring: auditQuerySchema } },
      (request) => auditPage(context, identityOf(request).accountId, request.query),
    );
}

export function organisationAuditRoutes(app: FastifyInstance, context: Context): void {
  const config = { access: { kind: 'organisation_admin' }, reply: auditListSchema, keepsHiddenNames: true } as const;
  app
    .withTypeProvider<ZodTypeProvider>()
    .get('/organisation/v1/audit-log', { config, schema: { querystring: auditQuerySchema } }, (request) =>
      auditPage(context, organisationAdminOf(request).accountId, request.query),
    );
}

async function auditPage({ db }: Context, accountId: string, query: AuditQuery) {
  const { action, actor, after, from, limit, order, to } = query;
  const entries = await readAudit(db, accountId, {
    action,
    actor,
    order,
    limit: limit + 1,
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
    afterSeq: after === undefined ? undefined : Number(after.slice(prefix.length)),
  });
  const page = entries.slice(0, limit);
  const altered = page.filter((entry) => auditFault(entry) !== null).map((entry) => ({ id: idOf(entry) }));
  const [first, last] = [page[0], page.at(-1)];
  return {
    object: 'list',
    data: page.filter((entry) => auditFault(entry) === null).map(entryObject),
    has_more: entries.length > limit,
    first_id: first === undefined ? null : idOf(first),
    last_id: last === undefined ? null : idOf(last),
    ...(altered.length > 0 && { altered }),
  };
}

const idOf = ({ seq }: StoredAudit): string => `${prefix}${seq}`;

const entryObject = ({ chain: _chain, sealFault: _fault, ...entry }: StoredAudit): AuditEntryObject => ({
  id: `${prefix}${entry.seq}`,
  object: 'gw.audit_entry',
  ...entry,
});
