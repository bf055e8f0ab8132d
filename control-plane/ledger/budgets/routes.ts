/** Budgets by people: operators for any account, and the admins of an organisation for the keys and projects of their own. */

import { monthOf } from '@gw/contract/internal/budgets';
import { defined } from '@gw/contract/internal/defined';
import { listSchema } from '@gw/contract/list';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answer, changeOf } from '../../people/access/change.ts';
import { idSchema } from '../../people/access/fields.ts';
import type { Access } from '../../people/access/guard.ts';
import { type ChangeResult, notFound } from '../../people/access/refusals.ts';
import { type Context, inRole } from '../../shared/context.ts';
import { type OperatorRole, organisationAdminOf } from '../../shared/principal.ts';
import { refuse } from '../../shared/replies.ts';
import { type BudgetRow, budgetChange, budgetInput, openBudgetEntries } from './budgets.ts';
import { rebase } from './rebase.ts';
import { budgetSchema, removedBudgetSchema, viewsOf } from './view.ts';

interface BudgetSurface {
  readonly prefix: string;
  readonly access: (role: OperatorRole) => Access;
  readonly accountOf: (request: FastifyRequest) => string;
}

const operators: BudgetSurface = {
  prefix: '/operator/v1/accounts/:accountId/budgets',
  access: (role) => ({ kind: 'operator', role }),
  accountOf: (request) => z.object({ accountId: z.string() }).parse(request.params).accountId,
};
const organisation: BudgetSurface = {
  prefix: '/organisation/v1/budgets',
  access: () => ({ kind: 'organisation_admin' }),
  accountOf: (request) => organisationAdminOf(request).accountId,
};

export function budgetRoutes(app: FastifyInstance, context: Context): void {
  registerRoutes(app, context, operators);
  registerRoutes(app, context, organisation);
}

const params = z.looseObject({ accountId: idSchema.optional() });
const idParams = params.extend({ id: idSchema });

function registerRoutes(base: FastifyInstance, context: Context, { access, accountOf, prefix }: BudgetSurface): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const { addresses } = context;
  // The budgets are those of a customer; what is used of them the ledger knows.
  const customers = inRole(context, 'customers');
  const { db } = customers;
  const entries = openBudgetEntries(customers);
  const config = (role: OperatorRole, reply: z.ZodType) => ({ access: access(role), reply });

  const shown = async (reply: FastifyReply, request: FastifyRequest, outcome: ChangeResult<BudgetRow>) => {
    if (!outcome.ok) return refuse(reply, outcome.error, addresses);
    const { accountId } = outcome.value;
    // So that it holds from the sums of this month on; else the job does it soon.
    await rebase(inRole(context, 'ledger'), { accountId, month: monthOf(context.now().getTime()) }).catch(
      (error: unknown) =>
        request.log.warn({ err: error }, 'the sums of a new budget could not be made; they are tried again'),
    );
    const [view] = await viewsOf(context, accountId, [outcome.value]);
    return defined(view, 'The budget that was changed');
  };

  app.get(
    prefix,
    { config: config('viewer', listSchema(budgetSchema)), schema: { params } },
    async (request, reply) => {
      const accountId = accountOf(request);
      if ((await db.account.count({ where: { id: accountId } })) === 0)
        return refuse(reply, notFound('account'), addresses);
      const rows = await db.budget.findMany({ where: { accountId }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
      return { object: 'list', data: await viewsOf(context, accountId, rows) };
    },
  );

  app.post(
    prefix,
    { config: config('admin', budgetSchema), schema: { params, body: budgetInput } },
    async (request, reply) =>
      shown(reply, request, await entries.create(changeOf(request, context), accountOf(request), request.body)),
  );

  app.patch(
    `${prefix}/:id`,
    { config: config('admin', budgetSchema), schema: { params: idParams, body: budgetChange } },
    async (request, reply) => {
      const { body, params: at } = request;
      return shown(reply, request, await entries.update(changeOf(request, context), accountOf(request), at.id, body));
    },
  );

  app.delete(
    `${prefix}/:id`,
    { config: config('admin', removedBudgetSchema), schema: { params: idParams } },
    async (request, reply) => {
      const removed = await entries.remove(changeOf(request, context), accountOf(request), request.params.id);
      const { id } = request.params;
      const gone = removed.ok ? { ok: true as const, value: { id, object: 'gw.budget', deleted: true } } : removed;
      return answer(reply, gone, context);
    },
  );
}
