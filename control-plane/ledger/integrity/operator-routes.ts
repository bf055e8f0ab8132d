/** `/operator/v1/receipts/verify`: checks the whole ledger, a page with each request, and changes nothing; `…/integrity`: how far the checks are that run by themselves. */
import { fieldError } from '@gw/contract/errors';
import { listSchema } from '@gw/contract/list';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import { refuse } from '../../shared/replies.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import { isPlace, readPage } from './check-receipts.ts';
import { type Periods, progressSchema, readProgress } from './progress.ts';

const query = z.object({
  /** `next` of the page before, both together: what the row there is called, even if somebody with the database has called it so. */
  after_id: z.string().max(8000).optional(),
  after_version: z.coerce.number().pipe(z.int32()).optional(),
});
/** In front of all rows: somebody with the database can have given one the least number that the column holds. */
const beginning = { id: '', version: -(2 ** 31) };
const verifyReply = listSchema(z.strictObject({ receipt_id: z.string(), version: z.int(), fault: z.string() })).extend({
  checked: z.int().describe('Versions on this page'),
  next: z.strictObject({ after_id: z.string(), after_version: z.int() }).nullable(),
});
const notNext =
  'after_id: is not a receipt with this version. Take both parameters from `next` of the page before, or neither to begin.';
const config = { access: { kind: 'operator', role: 'viewer' }, reply: verifyReply } as const;

export function integrityOperatorRoutes(
  base: FastifyInstance,
  { addresses, db }: Context,
  { periods, seals }: { readonly periods: Periods; readonly seals: Seals },
): void {
  base.get(
    '/operator/v1/receipts/integrity',
    { config: { access: { kind: 'operator', role: 'viewer' }, reply: progressSchema } },
    () => readProgress(db, periods),
  );
  base
    .withTypeProvider<ZodTypeProvider>()
    .get('/operator/v1/receipts/verify', { config, schema: { querystring: query } }, async (request, reply) => {
      const { after_id: id, after_version: version } = request.query;
      if (id !== undefined && version === undefined)
        return refuse(reply, fieldError('after_version', 'after_version: is required with after_id.'), addresses);
      const after = id === undefined || version === undefined ? null : { id, version };
      if (after === null ? version !== undefined : !(await isPlace(db, after)))
        return refuse(reply, fieldError('after_id', notNext), addresses);
      const { checked, faults, next } = await readPage({ db, seals }, after ?? beginning);
      const data = faults.map(({ fault, name, number }) => ({ receipt_id: name, version: number, fault }));
      return {
        object: 'list',
        data,
        checked,
        next: next === null ? null : { after_id: next.id, after_version: next.version },
      };
    });
}
