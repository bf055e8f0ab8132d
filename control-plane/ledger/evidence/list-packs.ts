/**
 * `GET /organisation/v1/evidence-packs` lists the packs of the account that a job builds or has built, whoever ordered them.
 * A pack that was the reply is not stored, and so is not listed. `GET /organisation/v1/evidence-keys` has the keys that sign packs,
 * like `/.well-known/jwks.json` of the public port, because pages can ask only their own port.
 */

import { fieldError } from '@gw/contract/errors';
import { keySetSchema, packJobSchema } from '@gw/contract/evidence';
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import { pageOf, pageSchema } from '@gw/contract/list';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { idSchema } from '../../people/access/fields.ts';
import type { Context } from '../../shared/context.ts';
import { refuse } from '../../shared/replies.ts';
import type { LedgerPlace } from '../receipts/ledger-place.ts';
import { jobOf, listPacks, type PackRow } from './packs.ts';

const query = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20).describe('Packs per page'),
  after: idSchema.optional().describe('The `last_id` of the page before'),
});
const listedSchema = packJobSchema.extend({
  selection: z
    .strictObject({
      from: z.iso.datetime().nullable(),
      to: z.iso.datetime().nullable(),
      model: z.string().nullable(),
      region: z.string().nullable(),
      include_lineage: z.boolean(),
      receipts: z.int().positive().nullable().describe('How many were named by their ids; null: none was'),
    })
    .describe('What was asked for'),
});
type Listed = z.infer<typeof listedSchema>;

export function keySetRoute(app: FastifyInstance, { former = [], publicJwk }: SigningKey, at: LedgerPlace): void {
  const options = { config: { ...at.config, reply: keySetSchema }, onRequest: at.demand('gw:export') };
  app.get('/organisation/v1/evidence-keys', options, () => ({ keys: [publicJwk, ...former] }));
}

export function packListRoute(app: FastifyInstance, { addresses, db }: Context, at: LedgerPlace): void {
  const options = {
    config: { ...at.config, reply: pageSchema(listedSchema) },
    schema: { querystring: query },
    onRequest: at.demand('gw:export'),
  };
  app.withTypeProvider<ZodTypeProvider>().get('/organisation/v1/evidence-packs', options, async (request, reply) => {
    const { after, limit } = request.query;
    const rows = await listPacks(db, at.accountOf(request), { after, most: limit + 1 });
    if (rows === null) return refuse(reply, fieldError('after', 'after: is not a pack of this account.'), addresses);
    return pageOf(rows.slice(0, limit).map(listed), ({ id }) => id, rows.length > limit);
  });
}

function listed(row: PackRow): Listed {
  const { asked, from, until } = row.request;
  const { include_lineage, model = null, receipt_ids, region = null } = asked;
  const selection = { from, to: until, model, region, include_lineage, receipts: receipt_ids?.length ?? null };
  return { ...jobOf(row), selection };
}
