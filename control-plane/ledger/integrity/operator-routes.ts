/** `/operator/v1/receipts/verify`: checks the whole ledger, a page with each request; `…/integrity`: how far the checks are that run by themselves. */
import { listSchema } from '@gw/contract/list';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import { checkPage } from './check-receipts.ts';
import { type Periods, progressSchema, readProgress } from './progress.ts';

const query = z.object({
  /** `next` of the page before: what the row there is called, even if somebody with the database has called it so. */
  after_id: z.string().optional(),
  after_version: z.coerce
    .number()
    .pipe(z.int32())
    .default(-(2 ** 31)),
});
const verifyReply = listSchema(z.strictObject({ receipt_id: z.string(), version: z.int(), fault: z.string() })).extend({
  checked: z.int().describe('Versions on this page'),
  next: z.strictObject({ after_id: z.string(), after_version: z.int() }).nullable(),
});
const config = { access: { kind: 'operator', role: 'viewer' }, reply: verifyReply } as const;

export function integrityOperatorRoutes(
  base: FastifyInstance,
  { db, log }: Context,
  { periods, seals }: { readonly periods: Periods; readonly seals: Seals },
): void {
  base.get(
    '/operator/v1/receipts/integrity',
    { config: { access: { kind: 'operator', role: 'viewer' }, reply: progressSchema } },
    () => readProgress(db, periods),
  );
  base
    .withTypeProvider<ZodTypeProvider>()
    .get('/operator/v1/receipts/verify', { config, schema: { querystring: query } }, async (request) => {
      const { after_id = '', after_version } = request.query;
      const { checked, faults, next } = await checkPage({ db, log, seals }, { id: after_id, version: after_version });
      const data = faults.map(({ fault, name, number }) => ({ receipt_id: name, version: number, fault }));
      return {
        object: 'list',
        data,
        checked,
        next: next === null ? null : { after_id: next.id, after_version: next.version },
      };
    });
}
