/** `GET /v1/usage`. */
import { fieldError } from '@gw/contract/errors';
import { dayMs } from '@gw/contract/internal/durations';
import { usageQuerySchema, usageSchema } from '@gw/contract/management';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Context } from '../../shared/context.ts';
import { identityOf } from '../../shared/identity.ts';
import { refuse } from '../../shared/replies.ts';
import { usageOf } from './usage.ts';

const defaultDays = 30;
const maxDays = 366;

export function usageRoutes(app: FastifyInstance, { db, addresses, now }: Context): void {
  const options = { config: { reply: usageSchema }, schema: { querystring: usageQuerySchema } };
  app.withTypeProvider<ZodTypeProvider>().get('/v1/usage', options, async (request, reply) => {
    const { accountId } = identityOf(request);
    // A date without a time is read as midnight UTC.
    const to = request.query.to === undefined ? now() : new Date(request.query.to);
    const from =
      request.query.from === undefined ? new Date(to.getTime() - defaultDays * dayMs) : new Date(request.query.from);
    if (from >= to) return refuse(reply, fieldError('to', 'to: must be after from.'), addresses);
    if (to.getTime() - from.getTime() > maxDays * dayMs)
      return refuse(reply, fieldError('from', `from: at most ${maxDays} days before to.`), addresses);
    const { simulated, version } = request.query;
    const { data, total } = await usageOf(db, accountId, { from, to, simulated, version });
    return { object: 'list', data, from: from.toISOString(), to: to.toISOString(), version, simulated, total };
  });
}
