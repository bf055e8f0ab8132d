/**
 * Budgets of a UTC month, as the parts hand them to each other.
 *
 * Invariant: what is counted is whole numbers of a small step of the unit, so that sums are exact, in whatever order they
 * are made, up to 2^53 steps.
 */
import { z } from 'zod';

/** `cost` is in the currency of the prices. */
export const budgetUnits = ['carbon_g', 'energy_wh', 'tokens', 'cost'] as const;
export type BudgetUnit = (typeof budgetUnits)[number];
export const budgetScopes = ['account', 'key', 'project'] as const;
export type BudgetScope = (typeof budgetScopes)[number];

/** What calls use or may use, by unit; null: nobody knows. */
export type Amounts = Readonly<Record<BudgetUnit, number | null>>;

/** A budget that holds for a call, as ext-authz tells it. */
export interface HeldBudget {
  readonly id: string;
  readonly scope: BudgetScope;
  /** Of the project that it is for; empty for an account or a key, since a call has one of them. */
  readonly project: string;
  readonly unit: BudgetUnit;
  /** For a UTC month, in the unit. */
  readonly amount: number;
  /** Whether it refuses calls, or only says how much of it is used. */
  readonly isHard: boolean;
}

const stepsPerUnit: Readonly<Record<BudgetUnit, number>> = { carbon_g: 1e6, energy_wh: 1e6, tokens: 1, cost: 1e6 };
/** The most that a budget can be: beyond it steps are no longer counted one by one. */
export const mostOf = (unit: BudgetUnit): number => 9e15 / stepsPerUnit[unit];

/** Rounded up, so that many small estimates are not nothing. */
export const stepsOf = (unit: BudgetUnit, amount: number): number => Math.ceil(toSteps(unit, amount) - 1e-6);
/** Rounded to the nearest step. */
export const nearestSteps = (unit: BudgetUnit, amount: number): number => Math.round(toSteps(unit, amount));
const toSteps = (unit: BudgetUnit, amount: number): number => Math.min(9e15, Math.max(0, amount) * stepsPerUnit[unit]);
export const amountOf = (unit: BudgetUnit, steps: number): number => steps / stepsPerUnit[unit];

/** Of a reply: budgets of which much is used. */
export const budgetHeaderName = 'x-gw-budget';

const carriedSchema = z.array(
  z.tuple([
    z.string(),
    z.string(),
    z.string(),
    z.number().positive(),
    z.union([z.literal(0), z.literal(1)]),
    z.string(),
  ]),
);

/** The form in which budgets travel with an identity. */
export const budgetsText = (budgets: readonly HeldBudget[]): string =>
  JSON.stringify(
    budgets.map(({ amount, id, isHard, project, scope, unit }) => [id, scope, unit, amount, isHard ? 1 : 0, project]),
  );

/** Reads what `budgetsText` made. A scope or unit that a later release has added is passed over. Throws for any other text. */
export function readBudgets(text: string): HeldBudget[] {
  return carriedSchema.parse(JSON.parse(text)).flatMap(([id, itsScope, itsUnit, amount, hard, project]) => {
    const scope = budgetScopes.find((each) => each === itsScope);
    const unit = budgetUnits.find((each) => each === itsUnit);
    return scope && unit ? [{ id, scope, project, unit, amount, isHard: hard === 1 }] : [];
  });
}

/** The UTC month of a moment, `2026-11`. */
export const monthOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 7);
/** When the month after that of a moment begins, ms since 1970. */
export function nextMonthMs(atMs: number): number {
  const at = new Date(atMs);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1);
}
/** The month before that of a moment. */
export function monthBefore(atMs: number): string {
  const at = new Date(atMs);
  return monthOf(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - 1));
}
/** When a month begins and ends, the end excluded. */
export function boundsOfMonth(month: string): { readonly from: Date; readonly to: Date } {
  const from = new Date(`${month}-01T00:00:00.000Z`);
  return { from, to: new Date(nextMonthMs(from.getTime())) };
}
