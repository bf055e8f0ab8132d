import { type BudgetUnit, budgetUnits } from '@gw/contract/internal/budgets';
import { counter, gauge, registering } from '@gw/service/metric';
import type { Registry } from 'prom-client';

/** `exceeded`: a soft budget admitted a call above its amount. */
const outcomes = ['reserved', 'exceeded', 'refused'] as const;
export type BudgetOutcome = (typeof outcomes)[number];

export interface BudgetMetrics {
  decided(unit: BudgetUnit, outcome: BudgetOutcome): void;
  register(registry: Registry): void;
}

export function createBudgetMetrics(isLocal: () => boolean): BudgetMetrics {
  const decisions = counter('gw_budget_decisions_total', 'Budgets that calls asked here, by unit and outcome', {
    unit: budgetUnits,
    outcome: outcomes,
  });
  const help = 'Whether this instance counts budgets alone, for its share of what is left';
  return {
    decided: (unit, outcome) => decisions.inc({ unit, outcome }),
    register: registering(decisions, gauge('gw_budgets_local', help, isLocal)),
  };
}
