/** A budget, with what is used of it in this month. */
import { amountOf, type BudgetUnit, boundsOfMonth, budgetUnits, monthOf } from '@gw/contract/internal/budgets';
import { defined, elementAt } from '@gw/contract/internal/defined';
import { redisBudgetUse } from '@gw/service/budgets';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import { type BudgetRow, budgetKinds } from './budgets.ts';
import { usedIn } from './sums.ts';

export const budgetSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('gw.budget'),
    scope: z.string(),
    name: z.string().nullable(),
    unit: z.enum(budgetUnits),
    amount: z.number(),
    kind: z.enum(budgetKinds),
    set_by: z.enum(['operator', 'organisation']),
    created_at: z.iso.datetime({ precision: 3 }),
    month: z.string().describe('The UTC month that the next four are of'),
    used: z.number().describe('By calls that have ended: the sum of their receipts'),
    used_estimated: z
      .number()
      .describe('Assumed for calls that have ended and whose receipts have no number; not part of `used`'),
    reserved: z.number().nullable().describe('By calls under way; null: the store that counts them does not answer'),
    percent: z.number().describe('Of the amount: used, estimated and reserved'),
    begins_anew_at: z.iso.datetime({ precision: 3 }),
  })
  .meta({ id: 'Budget' });
type BudgetView = z.infer<typeof budgetSchema>;

export const removedBudgetSchema = z.strictObject({
  id: z.string(),
  object: z.literal('gw.budget'),
  deleted: z.literal(true),
});

const known = <T extends string>(all: readonly T[], value: string): T | undefined => all.find((each) => each === value);

/** Shows budgets of one account. Without Redis, or before it knows the sums, the receipts say what is used. */
export async function viewsOf(
  { currency, db, now, redis }: Context,
  accountId: string,
  rows: readonly BudgetRow[],
): Promise<BudgetView[]> {
  const month = monthOf(now().getTime());
  const book = { accountId, month };
  const use = redisBudgetUse(redis);
  const states = await Promise.all(rows.map(({ id }) => use.state(book, id))).catch(() => null);
  const isCounted = states?.every(({ base }) => base !== null) ?? false;
  const summed = isCounted ? null : await usedIn(db, { currency }, book);
  return rows.flatMap((row, at) => {
    const unit = known<BudgetUnit>(budgetUnits, row.unit);
    const kind = known(budgetKinds, row.kind);
    if (unit === undefined || kind === undefined) return [];
    const state = states && elementAt(states, at);
    const reserved = state && amountOf(unit, state.held);
    const { estimated, stated } =
      state && !summed
        ? {
            stated: amountOf(unit, state.used - state.held - state.estimated),
            estimated: amountOf(unit, state.estimated),
          }
        : defined(summed, 'The use of budgets')({ ...row, unit });
    const percent = Number(((100 * (stated + estimated + (reserved ?? 0))) / row.amount).toFixed(1));
    return {
      id: row.id,
      object: 'gw.budget' as const,
      scope: row.scope,
      name: row.name || null,
      unit,
      amount: row.amount,
      kind,
      set_by: row.setBy === 'operator' ? ('operator' as const) : ('organisation' as const),
      created_at: row.createdAt.toISOString(),
      month,
      used: stated,
      used_estimated: estimated,
      reserved,
      percent,
      begins_anew_at: boundsOfMonth(month).to.toISOString(),
    };
  });
}
