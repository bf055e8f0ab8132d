/** Settles the budgets of a call that has ended, by its receipt, and by how its last attempt ended where that has no number. */
import { type Amounts, budgetUnits, noAmounts } from '@gw/contract/internal/budgets';
import { type AttemptEnd, settlements } from '../attempts/settlement.ts';
import type { Reservation } from '../guards/budgets/budgets.ts';

export interface SettledCall {
  /** The amounts that count in the budgets; null if the call has none. */
  readonly counted: Amounts | null;
  /** The same, if the receipt does not state all of it; otherwise null. */
  readonly assumed: Amounts | null;
}

export const withoutBudgets: SettledCall = { counted: null, assumed: null };

/** `used`: the amounts that the receipt states. */
export function settleCall(
  reservation: Pick<Reservation, 'assumed' | 'settle'>,
  used: Amounts,
  end: AttemptEnd,
): SettledCall {
  const unstated = settlements[end].unstated === 'nothing' ? noAmounts : reservation.assumed;
  reservation.settle(used, unstated);
  const counted: Amounts = {
    carbon_g: used.carbon_g ?? unstated.carbon_g,
    energy_wh: used.energy_wh ?? unstated.energy_wh,
    tokens: used.tokens ?? unstated.tokens,
    cost: used.cost ?? unstated.cost,
  };
  return { counted, assumed: budgetUnits.every((unit) => used[unit] !== null) ? null : counted };
}
