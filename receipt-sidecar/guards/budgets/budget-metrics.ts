import { type BudgetUnit, budgetUnits } from '@gw/contract/internal/budgets';
import { Counter, Gauge, type Registry } from 'prom-client';

/** `exceeded`: a soft budget admitted a call above its amount. */
const outcomes = ['reserved', 'exceeded', 'refused'] as const;
export type BudgetOutcome = (typeof outcomes)[number];

export interface BudgetMetrics {
  decided(unit: BudgetUnit, outcome: BudgetOutcome): void;
  register(registry: Registry): void;
}

export function createBudgetMetrics(isLocal: () => boolean): BudgetMetrics {
  const decisions = new Counter({
    name: 'gw_budget_decisions_total',
    help: 'Budgets that calls asked here, by unit and outcome',
    labelNames: ['unit', 'outcome'],
    registers: [],
  });
  // Exported as 0 from the start, so that the first one is an increase.
  for (const unit of budgetUnits) for (const outcome of outcomes) decisions.inc({ unit, outcome }, 0);
  const local = new Gauge({
    name: 'gw_budgets_local',
    help: 'Whether this instance counts budgets alone, for its share of what is left',
    registers: [],
    collect() {
      this.set(isLocal() ? 1 : 0);
    },
  });
  return {
    decided: (unit, outcome) => decisions.inc({ unit, outcome }),
    register: (registry) => {
      registry.registerMetric(decisions);
      registry.registerMetric(local);
    },
  };
}
