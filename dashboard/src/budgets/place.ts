/** Where budgets are read and set: those of one's own organisation, or, by operators, those of any account. */
import type { Budget } from '../api/types.ts';
import type { OnceHeaders } from '../parts/use-once.ts';

export type BudgetScope = 'account' | 'key' | 'project';

export interface WantedBudget {
  readonly scope: BudgetScope;
  /** The name of the key or the project; an account needs none. */
  readonly name?: string;
  readonly unit: Budget['unit'];
  readonly amount: number;
  readonly kind: Budget['kind'];
}

export interface BudgetPlace {
  /** The key of the list, which is read again after a change. */
  readonly queryKey: readonly unknown[];
  /** The scopes that a budget can be set for; empty where none may be set. */
  readonly scopes: readonly BudgetScope[];
  readonly mayRemove: (budget: Budget) => boolean;
  readonly list: () => Promise<{ readonly data: readonly Budget[] }>;
  readonly set: (budget: WantedBudget, headers: OnceHeaders) => Promise<unknown>;
  readonly remove: (id: string) => Promise<unknown>;
}
