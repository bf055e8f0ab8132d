/**
 * The budgets of an account: what it may use in a UTC month, as operators and the admins of its organisation set them.
 *
 * Invariant: each change holds the account's row, and is one transaction with its audit entry, made by whoever still may. An
 * organisation sets budgets of its keys and projects alone, and changes none that an operator has set; a call has to fit into all.
 */
import { fieldError } from '@gw/contract/errors';
import { type BudgetUnit, budgetScopes, budgetUnits, mostOf } from '@gw/contract/internal/budgets';
import { accountMessage } from '@gw/contract/internal/redis';
import { err, ok } from '@gw/contract/internal/result';
import { projectSchema } from '@gw/contract/project';
import type { Prisma } from '@gw/prisma/client';
import { z } from 'zod';
import { type ChangeContext, makeId } from '../../people/access/change.ts';
import { reauthorize } from '../../people/access/reauthorize.ts';
import { type ChangeResult, invalidTransition, notFound } from '../../people/access/refusals.ts';
import { appendAudit } from '../../people/audit/append.ts';
import { announceKeyChange } from '../../people/keys/announce.ts';
import type { Context } from '../../shared/context.ts';

export const budgetKinds = ['soft', 'hard'] as const;
type Setter = 'operator' | 'organisation';
type Tx = Prisma.TransactionClient;
export type BudgetRow = Awaited<ReturnType<Context['db']['budget']['findMany']>>[number];

export const budgetInput = z.strictObject({
  scope: z.enum(budgetScopes),
  name: z
    .string()
    .min(1)
    .max(100)
    .exactOptional()
    .describe('The id of the key, or the name of the project; none for the account'),
  unit: z.enum(budgetUnits),
  amount: z.number().positive().describe('For a UTC month, in the unit'),
  kind: z.enum(budgetKinds),
});
type BudgetInput = z.infer<typeof budgetInput>;

export const budgetChange = z
  .strictObject({ amount: budgetInput.shape.amount.exactOptional(), kind: budgetInput.shape.kind.exactOptional() })
  .refine((change) => Object.keys(change).length > 0, 'names nothing to change');
type BudgetChange = z.infer<typeof budgetChange>;

/** More than these cannot be told with each call. */
const mostBudgets = 50;

/** The changes resolve to the row as it is after them, or was before it was removed. */
export interface BudgetEntries {
  create(change: ChangeContext, accountId: string, input: BudgetInput): Promise<ChangeResult<BudgetRow>>;
  update(change: ChangeContext, accountId: string, id: string, wanted: BudgetChange): Promise<ChangeResult<BudgetRow>>;
  remove(change: ChangeContext, accountId: string, id: string): Promise<ChangeResult<BudgetRow>>;
}

export function openBudgetEntries(context: Pick<Context, 'db' | 'redis' | 'log'>): BudgetEntries {
  const { db } = context;
  const changed = async (
    change: ChangeContext,
    accountId: string,
    work: (tx: Tx) => Promise<ChangeResult<BudgetRow>>,
  ): Promise<ChangeResult<BudgetRow>> => {
    const outcome = await db.$transaction(async (tx): Promise<ChangeResult<BudgetRow>> => {
      const refused = await reauthorize(tx, change);
      if (refused !== null) return err(refused);
      await tx.$executeRaw`SELECT 1 FROM accounts WHERE id = ${accountId} FOR NO KEY UPDATE`;
      if ((await tx.account.count({ where: { id: accountId } })) === 0) return err(notFound('account'));
      return work(tx);
    });
    if (outcome.ok) await announceKeyChange(context, accountMessage(accountId));
    return outcome;
  };

  return {
    create: (change, accountId, input) =>
      changed(change, accountId, async (tx) => {
        const setBy = setterOf(change);
        const { name = '', ...wanted } = input;
        const refused = await refusalOf(tx, accountId, input, setBy);
        if (refused !== null) return err(refused);
        const data = { ...wanted, name, setBy, accountId, id: makeId('bud'), createdAt: change.at };
        const row = await tx.budget.create({ data });
        await audit(tx, change, 'budget.set', null, row);
        return ok(row);
      }),
    update: (change, accountId, id, wanted) =>
      changed(change, accountId, async (tx) => {
        const found = await ownOf(tx, change, accountId, id);
        if (!found.ok) return found;
        const before = found.value;
        const tooMuch = amountProblem(before.unit, wanted.amount ?? before.amount);
        if (tooMuch !== null) return err(tooMuch);
        const row = await tx.budget.update({ where: { id }, data: wanted });
        if (row.amount !== before.amount || row.kind !== before.kind)
          await audit(tx, change, 'budget.changed', before, row);
        return ok(row);
      }),
    remove: (change, accountId, id) =>
      changed(change, accountId, async (tx) => {
        const found = await ownOf(tx, change, accountId, id);
        if (!found.ok) return found;
        await tx.budget.delete({ where: { id } });
        await audit(tx, change, 'budget.removed', found.value, null);
        return found;
      }),
  };
}

const setterOf = ({ principal }: ChangeContext): Setter =>
  principal.kind === 'operator' ? 'operator' : 'organisation';

async function ownOf(tx: Tx, change: ChangeContext, accountId: string, id: string): Promise<ChangeResult<BudgetRow>> {
  const row = await tx.budget.findUnique({ where: { id, accountId } });
  if (row === null) return err(notFound('budget'));
  if (setterOf(change) === 'organisation' && row.setBy === 'operator')
    return err(invalidTransition('An operator has set this budget; only operators can change it.'));
  return ok(row);
}

const isUnit = (unit: string): unit is BudgetUnit => budgetUnits.some((each) => each === unit);

function amountProblem(unit: string, amount: number) {
  const most = isUnit(unit) ? mostOf(unit) : amount;
  return amount > most ? fieldError('amount', `amount: at most ${most} can be counted.`) : null;
}

async function refusalOf(tx: Tx, accountId: string, { amount, name, scope, unit }: BudgetInput, setBy: Setter) {
  if (scope === 'account' && setBy === 'organisation')
    return fieldError('scope', 'scope: only operators set budgets of a whole account; set one of a key or a project.');
  if (scope === 'account' && name !== undefined)
    return fieldError('name', 'name: a budget of the account has no name.');
  if (scope === 'project') {
    const project = projectSchema.safeParse(name);
    if (!project.success || project.data !== name)
      return fieldError(
        'name',
        'name: a budget of a project needs its name: up to 64 characters, without spaces around.',
      );
  }
  if (scope === 'key') {
    if (name === undefined) return fieldError('name', 'name: a budget of a key needs the id of the key.');
    if ((await tx.apiKey.count({ where: { accountId, publicId: name } })) === 0)
      return fieldError('name', 'name: the account has no key of this id.');
  }
  const tooMuch = amountProblem(unit, amount);
  if (tooMuch !== null) return tooMuch;
  const there = await tx.budget.findFirst({ where: { accountId, scope, name: name ?? '', unit, setBy } });
  if (there !== null) return invalidTransition(`There is one already, ${there.id}: change that one.`);
  if ((await tx.budget.count({ where: { accountId } })) >= mostBudgets)
    return invalidTransition(`An account has at most ${mostBudgets} budgets; remove one first.`);
  return null;
}

function audit(
  tx: Tx,
  { actor, at, requestId }: ChangeContext,
  action: 'budget.set' | 'budget.changed' | 'budget.removed',
  before: BudgetRow | null,
  after: BudgetRow | null,
): Promise<unknown> {
  const { accountId, id } = after ?? before ?? { accountId: '', id: '' };
  const of = (row: BudgetRow | null) =>
    row && { scope: row.scope, name: row.name || null, unit: row.unit, amount: row.amount, kind: row.kind };
  return appendAudit(tx, at, {
    accountId,
    actor,
    action,
    requestId,
    target: `budget:${id}`,
    before: of(before),
    after: of(after),
  });
}
