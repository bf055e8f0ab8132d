/** `/operator/v1/restore/check` and `…/receipts`: what a restored Postgres lacks. Both change nothing. */
import { listSchema } from '@gw/contract/list';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { compareStores, findReceipts, type RestoreOptions } from './compare.ts';

const access = { kind: 'operator', role: 'viewer' } as const;
/** For whoever restores: it takes receipts of all accounts. */
const restoring = { kind: 'operator', role: 'admin' } as const;

const checkReply = z.strictObject({
  object: z.literal('restore_check'),
  findings: z.array(
    z.strictObject({
      id: z.enum(['keys', 'receipts', 'catalogue', 'months', 'packs', 'valkey']),
      finding: z.string(),
      cure: z.string(),
    }),
  ),
  receipts_waiting: z.int().describe('Receipts on their way to Postgres'),
  receipts_set_aside: z.int().describe('Entries that could not be stored'),
});

const receiptsReply = listSchema(
  z.strictObject({
    id: z.string(),
    is: z
      .enum(['stored', 'archived', 'waiting', 'missing', 'not_an_id'])
      .describe(
        '`archived`: its month is in the object store, where it was not looked for; `waiting`: not in Postgres yet',
      ),
    version: z.int().nullable().describe('The newest one that is stored'),
  }),
);
const body = z.strictObject({ ids: z.array(z.string().max(100)).min(1).max(1000) });

export function restoreCheckRoutes(base: FastifyInstance, options: RestoreOptions): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  app.get('/operator/v1/restore/check', { config: { access, reply: checkReply } }, async () => {
    const { findings, setAside, waiting } = await compareStores(options);
    return { object: 'restore_check', findings, receipts_waiting: waiting, receipts_set_aside: setAside };
  });
  app.post(
    '/operator/v1/restore/receipts',
    { config: { access: restoring, reply: receiptsReply }, schema: { body } },
    async (request) => {
      const found = await findReceipts(options, request.body.ids);
      const data = found.map((receipt) => ({
        id: receipt.id,
        is: receipt.is,
        version: receipt.is === 'stored' ? receipt.version : null,
      }));
      return { object: 'list', data };
    },
  );
}
