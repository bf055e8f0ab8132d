/**
 * Remembers the use of budgets that Redis last reported and the use that this instance has admitted since, for times when it has to count
 * alone.
 *
 * Invariant: all instances together admit no more than what was left when each last heard from Redis.
 */
import { type HeldBudget, nearestSteps } from '@gw/contract/internal/budgets';
import { elementAt } from '@gw/contract/internal/defined';
import type { BudgetShare, Reserved } from '@gw/service/budgets';

interface KnownBudget {
  readonly month: string;
  readonly used: number;
  /** Steps that this instance has admitted alone since. */
  alone: number;
}

const mostKnown = 100_000;

export class KnownUse {
  readonly #instances: number;
  readonly #known = new Map<string, KnownBudget>();

  constructor(instances: number) {
    this.#instances = instances;
  }

  /** Returns a lower bound of the use, in steps. */
  usedOf(id: string, month: string): number {
    const known = this.#known.get(id);
    return known?.month === month ? known.used : 0;
  }

  /**
   * Notes the use that Redis reports: it includes what was admitted alone, or will be told. A report for a budget whose sum Redis does not
   * know is based on the figures known here, so it is ignored.
   */
  note(month: string, budgets: readonly HeldBudget[], { known, used }: Reserved): void {
    for (const [at, { id }] of budgets.entries())
      if (known[at]) this.#set(id, { month, used: elementAt(used, at), alone: 0 });
  }

  /** Returns how much of a budget this instance may admit alone, in steps. */
  shareOf({ amount, id, unit }: HeldBudget, month: string): number {
    return Math.floor(Math.max(0, nearestSteps(unit, amount) - this.usedOf(id, month)) / this.#instances);
  }

  decide(month: string, budgets: readonly HeldBudget[], shares: readonly BudgetShare[]): Reserved {
    const before = budgets.map(({ id }) => this.#of(id, month));
    const steps = shares.map((share) => share.steps);
    const refusedBy = budgets.findIndex(
      (budget, at) => budget.isHard && elementAt(before, at).alone + elementAt(steps, at) > this.shareOf(budget, month),
    );
    const used = before.map((each) => each.used + each.alone);
    const known = budgets.map(() => false);
    if (refusedBy !== -1) return { refusedBy, used, known };
    for (const [at, { id }] of budgets.entries()) {
      const own = this.#of(id, month);
      own.alone += elementAt(steps, at);
      this.#set(id, own);
    }
    return { refusedBy: null, used: used.map((each, at) => each + elementAt(steps, at)), known };
  }

  /** Replaces the use that was admitted for a call by its actual use. */
  correct(month: string, reserved: readonly BudgetShare[], settled: readonly BudgetShare[]): void {
    for (const [at, { id, steps }] of reserved.entries()) {
      const known = this.#known.get(id);
      if (known?.month === month) known.alone = Math.max(0, known.alone + elementAt(settled, at).steps - steps);
    }
  }

  /** Forgets earlier months. */
  forgetBefore(month: string): void {
    for (const [id, known] of this.#known) if (known.month < month) this.#known.delete(id);
  }

  #of(id: string, month: string): KnownBudget {
    const known = this.#known.get(id);
    return known?.month === month ? known : { month, used: 0, alone: 0 };
  }

  #set(id: string, known: KnownBudget): void {
    if (this.#known.size >= mostKnown && !this.#known.has(id)) this.#known.clear();
    this.#known.set(id, known);
  }
}
