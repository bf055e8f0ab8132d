/** `/operator/v1/audit`: every chain of the audit log, whole, so that whoever reads it can verify it. */
import { auditEntrySchema } from '@gw/contract/audit';
import { operatorChain } from '@gw/contract/internal/audit-chain';
import { nameSchema } from '@gw/contract/internal/catalogue/field';
import { listSchema } from '@gw/contract/list';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import { auditFault, readAudit, readChains } from './read.ts';

const time = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
const query = z.object({
  /** An account's id, or `operators` for what concerns no account; or what somebody with the database made a chain of. */
  chain: z.string().default(operatorChain),
  from: time.optional(),
  /** Not included. */
  to: time.optional(),
  actor: nameSchema.optional(),
  action: nameSchema.optional(),
  /** The `seq` of the last entry of the page before. */
  after: z.coerce.number().int().min(0).optional(),
  order: z.enum(['asc', 'desc']).default('desc'),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
});
const headsQuery = z.object({ after: z.string().optional() });
const headsPage = 1000;
const config = { access: { kind: 'operator', role: 'viewer' } } as const;
const more = { has_more: z.boolean() };
/** As it was hashed, but for `fault`. */
const entrySchema = auditEntrySchema.omit({ id: true, object: true }).extend({
  chain: z.string(),
  fault: z
    .enum(['altered', 'forged', 'unknown key'])
    .nullable()
    .describe(
      'Null: the gateway wrote this entry. `altered`: its hash does not fit it. `forged`: its seal does not fit its hash. `unknown key`: its key is in no setting',
    ),
});
const headSchema = z.strictObject({ chain: z.string(), seq: z.int(), hash: z.string().nullable() });
const entriesReply = listSchema(entrySchema).extend(more);

export function auditOperatorRoutes(base: FastifyInstance, { db }: Context): void {
  const app = base.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/operator/v1/audit',
    { config: { ...config, reply: entriesReply, keepsHiddenNames: true }, schema: { querystring: query } },
    async (request) => {
      const { after, chain, limit, ...filter } = request.query;
      const entries = await readAudit(db, chain, { ...filter, afterSeq: after, limit: limit + 1 });
      const data = entries
        .slice(0, limit)
        .map(({ sealFault, ...entry }) => ({ ...entry, fault: auditFault({ ...entry, sealFault }) }));
      return { object: 'list', data, has_more: entries.length > limit };
    },
  );

  const headsReply = listSchema(headSchema).extend(more);
  app.get(
    '/operator/v1/audit/heads',
    { config: { ...config, reply: headsReply }, schema: { querystring: headsQuery } },
    async (request) => {
      const chains = await readChains(db, request.query.after ?? '', headsPage + 1);
      return { object: 'list', data: chains.slice(0, headsPage), has_more: chains.length > headsPage };
    },
  );
}
