/**
 * What this instance last heard of budgets, and what it has let through by itself since: while it has to count alone.
 *
 * Invariant: all instances together let through no more than what was left when each last heard of it.
 */
import { type HeldBudget, nearestSteps } from '@gw/contract/internal/budgets';
import type { BudgetShare, Reserved } from '@gw/service/budgets';

interface Known {
  readonly month: string;
  readonly used: number;
  /** Of what was let through alone since. */
  alone: number;
}

const mostKnown = 100_000;

export class KnownUse {
  readonly #instances: number;
  readonly #known = new Map<string, Known>();

  constructor(instances: number) {
    this.#instances = instances;
  }

  /** Steps that are used at least. */
  usedOf(id: string, month: string): number {
    const known = this.#known.get(id);
    return known?.month === month ? known.used : 0;
  }

  /**
   * Notes what Redis said: that counts what was let through alone, or will be told of it. What it said without knowing the
   * sums rests on what is known here, and tells nothing.
   */
  note(month: string, budgets: readonly HeldBudget[], { known, used }: Reserved): void {
    for (const [at, { id }] of budgets.entries())
      if (known[at]) this.#set(id, { month, used: used[at] ?? 0, alone: 0 });
  }

  /** How much of a budget this instance may let through alone, in steps. */
  shareOf({ amount, id, unit }: HeldBudget, month: string): number {
    return Math.floor(Math.max(0, nearestSteps(unit, amount) - this.usedOf(id, month)) / this.#instances);
  }

  decide(month: string, budgets: readonly HeldBudget[], shares: readonly BudgetShare[]): Reserved {
    const before = budgets.map(({ id }) => this.#of(id, month));
    const steps = shares.map((share) => share.steps);
    const refusedBy = budgets.findIndex(
      (budget, at) => budget.isHard && (before[at]?.alone ?? 0) + (steps[at] ?? 0) > this.shareOf(budget, month),
    );
    const used = before.map((each) => each.used + each.alone);
    const known = budgets.map(() => false);
    if (refusedBy !== -1) return { refusedBy, used, known };
    for (const [at, { id }] of budgets.entries()) {
      const own = this.#of(id, month);
      own.alone += steps[at] ?? 0;
      this.#set(id, own);
    }
    return { refusedBy: null, used: used.map((each, at) => each + (steps[at] ?? 0)), known };
  }

  /** Puts what a call used in the place of what was let through for it. */
  correct(month: string, reserved: readonly BudgetShare[], settled: readonly BudgetShare[]): void {
    for (const [at, { id, steps }] of reserved.entries()) {
      const known = this.#known.get(id);
      if (known?.month === month) known.alone = Math.max(0, known.alone + (settled[at]?.steps ?? 0) - steps);
    }
  }

  /** Forgets other months than this one. */
  forgetBefore(month: string): void {
    for (const [id, known] of this.#known) if (known.month < month) this.#known.delete(id);
  }

  #of(id: string, month: string): Known {
    const known = this.#known.get(id);
    return known?.month === month ? known : { month, used: 0, alone: 0 };
  }

  #set(id: string, known: Known): void {
    if (this.#known.size >= mostKnown && !this.#known.has(id)) this.#known.clear();
    this.#known.set(id, known);
  }
}
