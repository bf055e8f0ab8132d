/** Settles the budgets and the limits in tokens of a call that has ended, by its receipt, and by how its last attempt ended where that has no number. */
import { type Amounts, budgetUnits, noAmounts } from '@gw/contract/internal/budgets';
import type { TokenUsage } from '@gw/methodology/assess';
import type { Claim } from '@gw/service/idempotency';
import { type AttemptEnd, settlements } from '../attempts/settlement.ts';
import type { Reservation } from '../guards/budgets/budgets.ts';
import type { TakenTokens } from '../guards/token-limits.ts';

export interface SettledCall {
  /** The amounts that count in the budgets; null if the call has none. */
  readonly counted: Amounts | null;
  /** The same, if the receipt does not state all of it; otherwise null. */
  readonly assumed: Amounts | null;
}

const withoutBudgets: SettledCall = { counted: null, assumed: null };

/** A call has reserved this of its budgets, and taken this of its limits in tokens; null: it has none. */
export interface HeldByCall {
  readonly reservation: Pick<Reservation, 'assumed' | 'forget' | 'header' | 'release' | 'settle'> | null;
  readonly tokens: TakenTokens | null;
}

export const nothingHeld: HeldByCall = { reservation: null, tokens: null };

/** Gives all of it back, because no provider was asked. */
export function release({
  claim,
  reservation,
  tokens,
}: HeldByCall & { readonly claim?: Pick<Claim, 'free'> | null }): void {
  claim?.free(false);
  reservation?.release();
  tokens?.settle(0);
}

interface StatedUse {
  /** The amounts that the receipt states; asked only about a call with budgets. */
  readonly used: () => Amounts;
  /** All tokens of the prompt count, also those that the provider had in its cache. */
  readonly usage: TokenUsage | null;
}

export function settleCall(
  { reservation, tokens }: HeldByCall,
  { usage, used: usedOf }: StatedUse,
  end: AttemptEnd,
): SettledCall {
  const isAssumed = settlements[end].unstated === 'assumed';
  tokens?.settle(usage === null ? (isAssumed ? tokens.assumed : 0) : usage.promptTokens + usage.completionTokens);
  if (reservation === null) return withoutBudgets;
  const used = usedOf();
  const unstated = isAssumed ? reservation.assumed : noAmounts;
  reservation.settle(used, unstated);
  const counted: Amounts = {
    carbon_g: used.carbon_g ?? unstated.carbon_g,
    energy_wh: used.energy_wh ?? unstated.energy_wh,
    tokens: used.tokens ?? unstated.tokens,
    cost: used.cost ?? unstated.cost,
  };
  return { counted, assumed: budgetUnits.every((unit) => used[unit] !== null) ? null : counted };
}
