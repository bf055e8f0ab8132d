/**
 * Remembers the use of budgets that Redis last reported and the use that this instance has admitted since, for times when it has to count
 * alone.
 *
 * Invariant: all instances together admit no more than what was left when each last heard from Redis.
 */
import { type HeldBudget, nearestSteps } from '@gw/contract/internal/budgets';
import { elementAt } from '@gw/contract/internal/defined';
import type { BudgetShare, OpenAnswer, Reserved, WantedShare } from '@gw/service/budgets';

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
   * Notes the use that Redis reports: it includes what was admitted alone, or will be told. The call counts by its estimate, as in `wanted`: an
   * open answer can have reserved the whole window, which nobody would take back here. A report for a budget whose sum Redis does not know is
   * based on the figures known here, so it is ignored.
   */
  note(
    month: string,
    budgets: readonly HeldBudget[],
    { known, refusedBy, steps, used }: Reserved,
    wanted: readonly Pick<WantedShare, 'steps'>[],
  ): void {
    for (const [at, { id }] of budgets.entries()) {
      const surplus = refusedBy === null ? elementAt(steps, at) - elementAt(wanted, at).steps : 0;
      if (known[at]) this.#set(id, { month, used: elementAt(used, at) - surplus, alone: 0 });
    }
  }

  /** Returns how much of a budget this instance may admit alone, in steps. */
  shareOf({ amount, id, unit }: HeldBudget, month: string): number {
    return Math.floor(Math.max(0, nearestSteps(unit, amount) - this.usedOf(id, month)) / this.#instances);
  }

  /** Decides as the script in Redis does, by the share of this instance. */
  decide(
    month: string,
    budgets: readonly HeldBudget[],
    shares: readonly Pick<WantedShare, 'bounded' | 'steps' | 'whole'>[],
    open: OpenAnswer | null,
  ): Reserved {
    const before = budgets.map(({ id }) => this.#of(id, month));
    const left = budgets.map((budget, at) =>
      budget.isHard ? this.shareOf(budget, month) - elementAt(before, at).alone : Number.POSITIVE_INFINITY,
    );
    const refusedBy = shares.findIndex((share, at) => share.steps > elementAt(left, at));
    const used = before.map((each) => each.used + each.alone);
    const known = budgets.map(() => false);
    const least = shares.map((share) => share.steps);
    if (refusedBy !== -1) return { refusedBy, isHeld: false, answer: null, used, known, steps: least };
    const { answer, steps } = fitting(shares, left, open);
    for (const [at, { id }] of budgets.entries()) {
      const own = this.#of(id, month);
      own.alone += elementAt(steps, at);
      this.#set(id, own);
    }
    return {
      refusedBy: null,
      isHeld: false,
      answer,
      used: used.map((each, at) => each + elementAt(steps, at)),
      known,
      steps,
    };
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

/** Returns the longest open answer that fits into what is left, and the steps that it takes. */
function fitting(
  shares: readonly Pick<WantedShare, 'bounded' | 'steps' | 'whole'>[],
  left: readonly number[],
  open: OpenAnswer | null,
): Pick<Reserved, 'answer' | 'steps'> {
  if (open === null || shares.every(({ whole }, at) => whole <= elementAt(left, at)))
    return { answer: null, steps: shares.map((share) => share.whole) };
  const span = open.to - open.from;
  const longer = shares.reduce((least, { bounded, steps }, at) => {
    const room = elementAt(left, at) - steps;
    return bounded > steps ? Math.min(least, Math.floor((span * room) / (bounded - steps))) : least;
  }, span);
  // The product can be too large to be exact.
  const stepsOf = ({ bounded, steps }: (typeof shares)[number], at: number) =>
    Math.min(elementAt(left, at), steps + Math.ceil(((bounded - steps) * longer) / Math.max(1, span)));
  return { answer: open.from + longer, steps: shares.map(stepsOf) };
}
