/** `/operator/v1/times`: rows whose times were written by a session in another time zone. It changes nothing. */
import { fieldError } from '@gw/contract/errors';
import { elementAt } from '@gw/contract/internal/defined';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Context } from '../shared/context.ts';
import { refuse } from '../shared/replies.ts';
import { checkTimes, nameOf, witnessedTimes } from './witnessed-times.ts';

const reply = z.strictObject({
  object: z.literal('time_check'),
  table: z.string(),
  column: z.string(),
  key: z.string().describe('The column that has the `id` of a row'),
  rows: z.int().describe('The rows of this piece whose time has an independent witness'),
  wrong: z.array(
    z.strictObject({
      id: z.string(),
      stored: z.iso.datetime(),
      witnessed: z.iso.datetime().describe('By the audit entry of its change, or by the id of the receipt'),
    }),
  ),
  next: z.string().nullable().describe('`after` of the next piece; null: this was the last one'),
});
const query = z.strictObject({
  after: z.string().max(300).optional().describe('`next` of the piece before; absent: from the begin'),
});

/** For whoever looks after the database: it reads rows of all accounts. */
const access = { kind: 'operator', role: 'admin' } as const;

export function timeRoutes(base: FastifyInstance, { addresses, databases }: Context): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  app.get(
    '/operator/v1/times',
    { config: { access, reply }, schema: { querystring: query } },
    async (request, response) => {
      const { after = nameOf(elementAt(witnessedTimes, 0)) } = request.query;
      const [name = '', ...rest] = after.split(' ');
      const at = witnessedTimes.findIndex((time) => nameOf(time) === name);
      const time = witnessedTimes[at];
      if (time === undefined)
        return refuse(response, fieldError('after', 'after: is not `next` of an answer before.'), addresses);
      const { next, rows, wrong } = await checkTimes(databases, time, rest.join(' '));
      const following = witnessedTimes[at + 1];
      return {
        object: 'time_check' as const,
        table: time.table,
        column: time.column,
        key: time.key,
        rows,
        wrong: wrong.map(({ id, stored, witnessed }) => ({
          id,
          stored: stored.toISOString(),
          witnessed: witnessed.toISOString(),
        })),
        next: next !== null ? `${name} ${next}` : following === undefined ? null : nameOf(following),
      };
    },
  );
}
