/** `GET /v1/usage` and `GET /organisation/v1/usage` of an account, `GET /operator/v1/usage` over all of them. */
import { type ApiError, fieldError } from '@gw/contract/errors';
import { dayMs, minuteMs } from '@gw/contract/internal/durations';
import {
  groupsOf,
  operatorUsageQuerySchema,
  operatorUsageSchema,
  type UsageQuery,
  usageQuerySchema,
  usageSchema,
} from '@gw/contract/usage';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Context } from '../../shared/context.ts';
import { refuse } from '../../shared/replies.ts';
import { completeUntilLately } from '../receipts/complete-until.ts';
import type { LedgerPlace } from '../receipts/ledger-place.ts';
import { usageCsv } from './csv.ts';
import { mostRows, usageOf } from './usage.ts';

const defaultDays = 30;
const maxDays = 366;

export function usageRoutes(app: FastifyInstance, context: Context, { accountOf, config, paths }: LedgerPlace): void {
  const options = { config: { ...config, reply: usageSchema }, schema: { querystring: usageQuerySchema } };
  app
    .withTypeProvider<ZodTypeProvider>()
    .get(paths.usage, options, (request, reply) => answer(reply, context, request.query, accountOf(request)));
}

export function usageOperatorRoutes(app: FastifyInstance, context: Context): void {
  const config = { access: { kind: 'operator', role: 'viewer' }, reply: operatorUsageSchema } as const;
  const options = { config, schema: { querystring: operatorUsageQuerySchema } };
  app
    .withTypeProvider<ZodTypeProvider>()
    .get('/operator/v1/usage', options, (request, reply) =>
      answer(reply, context, request.query, request.query.account_id ?? null),
    );
}

/** `accountId` null: of all accounts. */
async function answer(
  reply: FastifyReply,
  { addresses, currency, db, now, redis }: Context,
  query: UsageQuery,
  accountId: string | null,
): Promise<unknown> {
  const period = periodOf(query, now());
  if ('code' in period) return refuse(reply, period, addresses);
  const { from, readTo, to } = period;
  const { format, interval, simulated, version } = query;
  const group_by = groupsOf(query.group_by);
  const complete = await completeUntilLately(redis, now());
  const usage = await usageOf(db, { accountId, from, to: readTo, group_by, interval, simulated, version, currency });
  if (usage === null) return refuse(reply, tooMany, addresses);
  const { data, total } = usage;
  if (format === 'csv') {
    const groups = [...(interval === 'total' ? [] : ['date']), ...group_by];
    return reply
      .type('text/csv; charset=utf-8; header=present')
      .header('content-disposition', 'attachment; filename="usage.csv"')
      .send(usageCsv(data, groups));
  }
  const asked = { from: from.toISOString(), to: to.toISOString(), version, simulated, interval, group_by };
  return { object: 'list', data, ...asked, complete_until: complete?.toISOString() ?? null, total };
}

const tooMany = fieldError(
  'group_by',
  `group_by: there are more than ${mostRows} rows. Ask for a shorter period, a longer interval, or fewer groups.`,
);

interface Period {
  readonly from: Date;
  readonly to: Date;
  /** Until when calls are read: no call has begun after now, so the minute that is running is read as a whole, by its sums. */
  readonly readTo: Date;
}

function periodOf(query: UsageQuery, now: Date): Period | ApiError {
  // A date without a time is read as midnight UTC.
  const to = query.to === undefined ? now : new Date(query.to);
  const wholeMinutes = (time: number, round: (minutes: number) => number) =>
    new Date(round(time / minuteMs) * minuteMs);
  const from =
    query.from === undefined ? wholeMinutes(to.getTime() - defaultDays * dayMs, Math.floor) : new Date(query.from);
  if (from >= to) return fieldError('to', 'to: must be after from.');
  if (to.getTime() - from.getTime() > maxDays * dayMs)
    return fieldError('from', `from: at most ${maxDays} days before to.`);
  return { from, to, readTo: query.to === undefined ? wholeMinutes(to.getTime(), Math.ceil) : to };
}
