/** `/operator/v1/receipts/witness`: the minutes in which the ledger and the count of calls differ, or could not be compared. */
import { pageOf, pageSchema } from '@gw/contract/list';
import { Prisma } from '@gw/prisma/client';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';

const minuteSchema = z.strictObject({
  id: z.string(),
  account_id: z.string(),
  minute: z.iso.datetime(),
  verdict: z
    .enum(['extra', 'missing', 'not_witnessed'])
    .describe(
      '`extra`: receipts of calls that nobody made; `missing`: calls without a receipt; `not_witnessed`: there are more receipts than counted calls, at a time in which calls may have gone uncounted',
    ),
  receipts: z.int().describe('First versions in the ledger'),
  calls: z.int().describe('That ext-authz counted'),
});
const query = z.object({
  /** The `last_id` of the page before. */
  after: z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [!-~]{1,100}$/)
    .optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
});
const config = { access: { kind: 'operator', role: 'viewer' }, reply: pageSchema(minuteSchema) } as const;

type Differing = Omit<z.infer<typeof minuteSchema>, 'id' | 'minute'> & { readonly minute: Date };

export function witnessRoutes(base: FastifyInstance, { db }: Context): void {
  base
    .withTypeProvider<ZodTypeProvider>()
    .get('/operator/v1/receipts/witness', { config, schema: { querystring: query } }, async (request) => {
      const { after, limit } = request.query;
      const [at, accountId] = after?.split(' ') ?? [];
      const behind =
        at === undefined || accountId === undefined
          ? Prisma.empty
          : Prisma.sql`AND (minute, account_id) < (${new Date(at)}, ${accountId})`;
      const found = await db.$queryRaw<Differing[]>`
        SELECT account_id, minute, verdict, receipts, calls FROM call_counts WHERE verdict <> 'agrees' ${behind}
        ORDER BY minute DESC, account_id DESC LIMIT ${limit + 1}`;
      const views = found.slice(0, limit).map((row) => {
        const minute = row.minute.toISOString();
        return { id: `${minute} ${row.account_id}`, ...row, minute };
      });
      return pageOf(views, ({ id }) => id, found.length > limit);
    });
}
