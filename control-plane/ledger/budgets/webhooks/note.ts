/**
 * Notes that much of a budget is used, for the webhook of its account.
 *
 * Invariant: a budget, month and threshold is noted once, however many instances see it, and only for an account that has a
 * webhook: one that gets its webhook later is told then, as soon as its sums are made again.
 */
import { amountOf, type BudgetUnit, nearestSteps, type UsedAmounts } from '@gw/contract/internal/budgets';
import type { Queryable } from '@gw/prisma/client';
import type { Book } from '@gw/service/budgets';

/** Percent of the amount. */
const thresholds = [80, 100] as const;

interface UsedBudget {
  readonly id: string;
  readonly scope: string;
  readonly name: string;
  readonly unit: BudgetUnit;
  readonly amount: number;
  readonly kind: string;
  readonly used: UsedAmounts;
}

export async function noteThresholds(
  db: Queryable,
  { accountId, month }: Book,
  budgets: readonly UsedBudget[],
  at: Date,
): Promise<void> {
  const events = budgets.flatMap((budget) =>
    thresholds
      .filter((threshold) => hasPassed(budget, threshold))
      .map((threshold) => ({ budget_id: budget.id, threshold, body: bodyOf(budget, { month, threshold, at }) })),
  );
  if (events.length === 0) return;
  await db.$executeRaw`
    INSERT INTO budget_events (budget_id, month, threshold, account_id, body, noted_at, next_at)
    SELECT event.budget_id, ${month}, event.threshold, w.account_id, event.body, ${at}, ${at}
    FROM budget_webhooks w, json_to_recordset(${JSON.stringify(events)}::json)
      AS event (budget_id text, threshold integer, body text)
    WHERE w.account_id = ${accountId}
    ON CONFLICT DO NOTHING`;
}

/** The threshold in whole steps, so that a rounding does not miss an amount that is exactly at it. */
const hasPassed = ({ amount, unit, used }: UsedBudget, threshold: number): boolean =>
  (nearestSteps(unit, used.stated) + nearestSteps(unit, used.estimated)) * 100 >=
  nearestSteps(unit, amount) * threshold;

interface Moment {
  readonly month: string;
  readonly threshold: number;
  readonly at: Date;
}

const bodyOf = ({ amount, id, kind, name, scope, unit, used }: UsedBudget, { at, month, threshold }: Moment): string =>
  JSON.stringify({
    type: 'budget.threshold',
    budget: { id, scope, name: name || null, unit, amount, kind },
    month,
    threshold,
    used: amountOf(unit, nearestSteps(unit, used.stated)),
    used_estimated: amountOf(unit, nearestSteps(unit, used.estimated)),
    at: at.toISOString(),
  });
