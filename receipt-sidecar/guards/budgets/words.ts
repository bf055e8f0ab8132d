/** Words for clients: the refusal by a budget, and the header of a reply. */
import { type ApiError, apiError } from '@gw/contract/errors';
import { amountOf, type BudgetUnit, type HeldBudget, monthOf, nextMonthMs } from '@gw/contract/internal/budgets';
import { elementAt } from '@gw/contract/internal/defined';

/** Headers list budgets of which at least this part is used. */
export const shownFrom = 0.8;

const codes = {
  carbon_g: 'carbon_budget_exceeded',
  energy_wh: 'energy_budget_exceeded',
  tokens: 'token_budget_exceeded',
  cost: 'cost_budget_exceeded',
} as const;

const words: Readonly<Record<BudgetUnit, { readonly name: string; readonly unit: string }>> = {
  carbon_g: { name: 'carbon', unit: 'g CO2e' },
  energy_wh: { name: 'energy', unit: 'Wh' },
  tokens: { name: 'token', unit: 'tokens' },
  cost: { name: 'cost', unit: 'in the currency of the prices' },
};
const ownerOf = ({ project, scope }: HeldBudget): string =>
  scope === 'project' ? `the project "${project}"` : scope === 'key' ? 'this API key' : 'this account';

interface RefusingBudget {
  readonly budget: HeldBudget;
  /** Steps that are used or reserved. */
  readonly used: number;
  /** It would have room if the calls under way had reserved no longer answers than they usually have. */
  readonly isHeld: boolean;
  /** The estimate of this call, in steps. */
  readonly steps: number;
  /** The most that this instance admits while it counts alone, in steps; null while all count together. */
  readonly share: number | null;
  /** ms since 1970 */
  readonly at: number;
}

/** Most calls end in so many seconds, and then what they have reserved and not used is free again. */
const callsEndInS = 5;

export function budgetExceeded({ at, budget, isHeld, share, steps, used }: RefusingBudget): ApiError {
  const { amount, unit } = budget;
  const { name, unit: of } = words[unit];
  const show = (inSteps: number) => `${Number(amountOf(unit, inSteps).toPrecision(6))} ${of}`;
  const anew = nextMonthMs(at);
  const alone =
    share === null
      ? ''
      : ` The instances of the gateway cannot count together at the moment, and the share of this one is ${show(share)}.`;
  const when = isHeld
    ? ' Calls under way have reserved a part of that, of which they free what they do not use when they end: try again then.'
    : ` It begins anew at ${new Date(anew).toISOString().slice(0, 16)}Z.`;
  const message =
    `The ${name} budget of ${ownerOf(budget)} for ${monthOf(at)} is ${Number(amount.toPrecision(6))} ${of}: ${show(used)} are used or reserved, ` +
    `and this call is estimated at ${show(steps)}.${alone}${when}`;
  const retryAfterS = isHeld ? callsEndInS : Math.max(1, Math.ceil((anew - at) / 1000));
  return apiError(codes[unit], { message, retryAfterS });
}

/**
 * Returns the value of `x-gw-budget` (a list of RFC 9651) with the budgets of which at least `shownFrom` is used or reserved; null if there
 * are none. `used` is in steps, in the order of the budgets.
 */
export function budgetHeader(budgets: readonly HeldBudget[], used: readonly number[]): string | null {
  const items = budgets.flatMap(({ amount, isHard, scope, unit }, at) => {
    const part = amountOf(unit, elementAt(used, at)) / amount;
    if (part < shownFrom) return [];
    const shown = Math.min(999_999, Math.floor(part * 1000) / 1000).toFixed(3);
    return `${unit};scope=${scope};kind=${isHard ? 'hard' : 'soft'};used=${shown}`;
  });
  return items.length === 0 ? null : items.join(', ');
}
