/** What receipts say that an account and its keys have used in a month. */
import { type Amounts, type BudgetUnit, boundsOfMonth, budgetUnits } from '@gw/contract/internal/budgets';
import type { Queryable } from '@gw/prisma/client';
import { usageOf } from '../usage/usage.ts';
import { estimatesByKey } from './estimates.ts';

/** Returns what the account, or one of its keys, has used. */
export type Used = (of: { readonly scope: string; readonly name: string; readonly unit: BudgetUnit }) => number;

/**
 * Sums the newest versions of the receipts of a month, those of simulated calls too: a budget counts what receipts say.
 * What has no number counts as it was estimated.
 */
export async function usedIn(db: Queryable, accountId: string, month: string): Promise<Used> {
  const { from, to } = boundsOfMonth(month);
  const question = { accountId, from, to, interval: 'total', simulated: 'include', version: 'restated' } as const;
  const usage = await usageOf(db, { ...question, group_by: ['key_id'] });
  if (usage === null) throw new Error('An account has more keys in one month than usage can be told apart by.');
  const sums = new Map<string, number>();
  const add = (keyId: string | null | undefined, amounts: Amounts): void => {
    for (const unit of budgetUnits)
      for (const of of ['account ', `key ${keyId}`])
        sums.set(`${of} ${unit}`, (sums.get(`${of} ${unit}`) ?? 0) + (amounts[unit] ?? 0));
  };
  for (const row of usage.data) {
    const { carbon_g, completion_tokens, energy_wh, prompt_tokens } = row;
    add(row.key_id, { carbon_g, energy_wh, tokens: (prompt_tokens ?? 0) + (completion_tokens ?? 0) });
  }
  for (const row of await estimatesByKey(db, accountId, from, to)) add(row.key_id, row);
  return ({ name, scope, unit }) => sums.get(`${scope} ${name} ${unit}`) ?? 0;
}
