/** Sums up from the receipts how much an account, its keys and its projects have used in a month. */
import {
  type Amounts,
  type BudgetUnit,
  boundsOfMonth,
  budgetUnits,
  type UsedAmounts,
} from '@gw/contract/internal/budgets';
import type { Queryable } from '@gw/prisma/client';
import type { Book } from '@gw/service/budgets';
import type { Context } from '../../shared/context.ts';
import { usageOf } from '../usage/usage.ts';
import { estimatesOf } from './estimates.ts';

interface Groups {
  readonly key_id?: string | null | undefined;
  readonly project?: string | null | undefined;
}

/** Returns what the account, one of its keys or one of its projects has used. */
export type Used = (of: { readonly scope: string; readonly name: string; readonly unit: BudgetUnit }) => UsedAmounts;

/**
 * Sums the newest versions of the receipts of a month, those of simulated calls too: a budget counts what receipts say.
 * What counts for a receipt without a number is summed apart.
 */
export async function usedIn(
  db: Queryable,
  { currency }: Pick<Context, 'currency'>,
  { accountId, month }: Book,
): Promise<Used> {
  const { from, to } = boundsOfMonth(month);
  const question = {
    accountId,
    currency,
    from,
    to,
    interval: 'total',
    simulated: 'include',
    version: 'restated',
  } as const;
  const usage = await usageOf(db, { ...question, group_by: ['key_id', 'project'] });
  if (usage === null)
    throw new Error('An account has more keys and projects in one month than usage can be told apart by.');
  const stated = new Map<string, number>();
  const estimated = new Map<string, number>();
  const add = (sums: Map<string, number>, { key_id, project }: Groups, amounts: Amounts): void => {
    const whose = ['account ', `key ${key_id}`, ...(project == null ? [] : [`project ${project}`])];
    for (const unit of budgetUnits)
      for (const of of whose) sums.set(`${of} ${unit}`, (sums.get(`${of} ${unit}`) ?? 0) + (amounts[unit] ?? 0));
  };
  for (const row of usage.data) {
    const { carbon_g, completion_tokens, cost, energy_wh, prompt_tokens } = row;
    add(stated, row, { carbon_g, cost, energy_wh, tokens: (prompt_tokens ?? 0) + (completion_tokens ?? 0) });
  }
  for (const row of await estimatesOf(db, accountId, from, to)) add(estimated, row, row);
  return ({ name, scope, unit }) => {
    const place = `${scope} ${name} ${unit}`;
    return { stated: stated.get(place) ?? 0, estimated: estimated.get(place) ?? 0 };
  };
}
