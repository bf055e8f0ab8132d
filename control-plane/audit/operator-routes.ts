/** `/operator/v1/audit`: every chain of the audit log, whole, so that whoever reads it can verify it. */
import { type AuditEntry, operatorChain } from '@gw/contract/internal/audit-chain';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { idSchema, nameSchema } from '../access/fields.ts';
import type { Context } from '../context.ts';
import { readAudit } from './read.ts';

const time = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
const query = z.object({
  /** An account's id, or `operators` for what concerns no account. */
  chain: idSchema.default(operatorChain),
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
const headsQuery = z.object({ after: idSchema.optional() });
const headsPage = 1000;
const config = { access: { kind: 'operator', role: 'viewer' } } as const;

export interface AuditHeadView {
  readonly chain: string;
  readonly seq: number;
  readonly hash: string;
}

export function auditOperatorRoutes(base: FastifyInstance, { db }: Context): void {
  const app = base.withTypeProvider<ZodTypeProvider>();

  app.get('/operator/v1/audit', { config, schema: { querystring: query } }, async (request) => {
    const { after, chain, limit, ...filter } = request.query;
    const entries = await readAudit(db, chain, { ...filter, afterSeq: after, limit: limit + 1 });
    const data: AuditEntry[] = entries.slice(0, limit);
    return { object: 'list', data, has_more: entries.length > limit };
  });

  app.get('/operator/v1/audit/heads', { config, schema: { querystring: headsQuery } }, async (request) => {
    const { after } = request.query;
    const where = after === undefined ? {} : { chain: { gt: after } };
    const rows = await db.auditHead.findMany({ where, orderBy: { chain: 'asc' }, take: headsPage + 1 });
    const data: AuditHeadView[] = rows
      .slice(0, headsPage)
      .map(({ chain, hash, seq }) => ({ chain, hash, seq: Number(seq) }));
    return { object: 'list', data, has_more: rows.length > headsPage };
  });
}
