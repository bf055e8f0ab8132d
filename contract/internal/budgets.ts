/**
 * Monthly budgets (UTC) in the form that the services exchange.
 *
 * Invariant: amounts are counted in whole small steps of the unit, so that sums are exact in any order, up to 2^53 steps.
 */
import { z } from 'zod';

/** `cost` is in the currency of the prices. */
export const budgetUnits = ['carbon_g', 'energy_wh', 'tokens', 'cost'] as const;
export type BudgetUnit = (typeof budgetUnits)[number];
export const budgetScopes = ['account', 'key', 'project'] as const;
export type BudgetScope = (typeof budgetScopes)[number];

/** Amounts that calls use or may use, by unit; null: unknown. */
export type Amounts = Readonly<Record<BudgetUnit, number | null>>;

/** Use of nothing. */
export const noAmounts: Amounts = { carbon_g: 0, energy_wh: 0, tokens: 0, cost: 0 };

/** A budget that applies to a call, as ext-authz reports it. */
export interface HeldBudget {
  readonly id: string;
  readonly scope: BudgetScope;
  /** Name of its project; empty for a budget of the account or key, of which a call has one each. */
  readonly project: string;
  readonly unit: BudgetUnit;
  /** Per UTC month, in the unit. */
  readonly amount: number;
  /** Whether it refuses calls or only reports its use. */
  readonly isHard: boolean;
}

const stepsPerUnit: Readonly<Record<BudgetUnit, number>> = { carbon_g: 1e6, energy_wh: 1e6, tokens: 1, cost: 1e6 };
/** The largest budget; beyond it a double cannot count single steps. */
export const mostOf = (unit: BudgetUnit): number => 9e15 / stepsPerUnit[unit];

/** Rounded up, so that many small estimates do not add up to 0. */
export const stepsOf = (unit: BudgetUnit, amount: number): number => Math.ceil(toSteps(unit, amount) - 1e-6);
/** Rounded to the nearest step. */
export const nearestSteps = (unit: BudgetUnit, amount: number): number => Math.round(toSteps(unit, amount));
const toSteps = (unit: BudgetUnit, amount: number): number => Math.min(9e15, Math.max(0, amount) * stepsPerUnit[unit]);
export const amountOf = (unit: BudgetUnit, steps: number): number => steps / stepsPerUnit[unit];

/** Reply header that lists nearly used budgets. */
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

/** Encodes budgets for the metadata of a call. */
export const budgetsText = (budgets: readonly HeldBudget[]): string =>
  JSON.stringify(
    budgets.map(({ amount, id, isHard, project, scope, unit }) => [id, scope, unit, amount, isHard ? 1 : 0, project]),
  );

/** Decodes `budgetsText`. Skips scopes and units that a later release has added. Throws for any other text. */
export function readBudgets(text: string): HeldBudget[] {
  return carriedSchema.parse(JSON.parse(text)).flatMap(([id, itsScope, itsUnit, amount, hard, project]) => {
    const scope = budgetScopes.find((each) => each === itsScope);
    const unit = budgetUnits.find((each) => each === itsUnit);
    return scope && unit ? [{ id, scope, project, unit, amount, isHard: hard === 1 }] : [];
  });
}

/** Returns a UTC month, such as `2026-11`. */
export const monthOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 7);
/** Returns the start of the following month, ms since 1970. */
export function nextMonthMs(atMs: number): number {
  const at = new Date(atMs);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1);
}
export function monthBefore(atMs: number): string {
  const at = new Date(atMs);
  return monthOf(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - 1));
}
/** Returns the start of a month and its exclusive end. */
export function boundsOfMonth(month: string): { readonly from: Date; readonly to: Date } {
  const from = new Date(`${month}-01T00:00:00.000Z`);
  return { from, to: new Date(nextMonthMs(from.getTime())) };
}

/** Amounts in the unit of a budget. */
export interface UsedAmounts {
  /** The sum of the receipts. */
  readonly stated: number;
  /** The sum of what is assumed for receipts without a number. */
  readonly estimated: number;
}
