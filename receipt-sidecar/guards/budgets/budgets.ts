/**
 * Reserves a call's estimated use of its budgets, and later replaces the reservation by the actual use.
 *
 * Invariants: a call reserves once, from all of its budgets or from none, however many deployments it tries. A reservation is settled or
 * released once; if this process dies, the control plane replaces it by the receipt. Where a receipt has no number, `attempts/settlement.ts`
 * says whether nothing or an assumption counts, and an assumption is counted apart. While Redis is unavailable, each instance goes on with its share of what was left when Redis last answered: never unlimited,
 * never closed.
 */
import type { ApiError } from '@gw/contract/errors';
import { type Amounts, type HeldBudget, monthOf, nearestSteps, stepsOf } from '@gw/contract/internal/budgets';
import { elementAt } from '@gw/contract/internal/defined';
import { err, ok, type Result } from '@gw/contract/internal/result';
import type {
  Book,
  BudgetUse,
  OpenAnswer,
  Reserved,
  ReservedShare,
  SettledShare,
  WantedShare,
} from '@gw/service/budgets';
import type { Logger } from '@gw/service/log';
import { succeedsWithin } from '../../wire/bounded.ts';
import { newReceiptId } from '../../wire/receipt-id.ts';
import { type AvailabilityOptions, watchAvailability } from '../slots/availability.ts';
import type { BudgetMetrics } from './budget-metrics.ts';
import type { Estimates } from './estimate.ts';
import { KnownUse } from './known-use.ts';
import { budgetExceeded, budgetHeader } from './words.ts';

export interface Reservation {
  /** The id of the receipt that the call will have. */
  readonly receiptId: string;
  /** The time of the call, ms since 1970. */
  readonly at: number;
  /** Counts if the call ran and its receipt has no number. */
  readonly assumed: Amounts;
  /** The length, in tokens, that an answer which nobody has bounded must be bounded to; null: its reservation suffices for the longest. */
  readonly answer: number | null;
  /** The value of the reply's `x-gw-budget`; null: the reply has none. */
  readonly header: string | null;
  /** Replaces the estimate by the actual use, once. `unstated` counts where an amount is null, as an estimate. */
  settle(used: Amounts, unstated: Amounts): void;
  /** Gives the reservation back, because no provider was asked. Does nothing if it was settled. */
  release(): void;
  /** Leaves the reservation to the control plane, which replaces it by the receipt. Does nothing if it was settled or released. */
  forget(): void;
}

export interface BudgetOptions {
  readonly use: Pick<BudgetUse, 'reserve' | 'reserveAnyway' | 'settle' | 'release' | 'missing'>;
  readonly leases: AvailabilityOptions['leases'];
  /** How many instances share the rest of a budget while they cannot count together. */
  readonly instances: number;
  /** The clock, ms since 1970. */
  readonly now: () => number;
  /** A monotonic clock, ms. */
  readonly steady: () => number;
  readonly metrics: Pick<BudgetMetrics, 'decided'>;
  readonly log: Logger;
}

export interface Budgets {
  /**
   * Reserves, or refuses by the first budget that has too little left. It waits for Redis for about 250 ms at most, and never
   * rejects. `estimate` is called once.
   */
  reserve(
    accountId: string,
    budgets: readonly HeldBudget[],
    estimate: (at: string) => Estimates,
  ): Promise<Result<Reservation, ApiError>>;
  /** Whether this instance counts alone. */
  readonly local: () => boolean;
  stop(): void;
}

/** The amounts that count if the receipt of a call has no number, and the steps that the call is estimated at. */
interface Wanted {
  readonly assumed: Amounts;
  readonly steps: readonly number[];
}

interface HeldReservation {
  readonly book: Book;
  readonly receiptId: string;
  readonly budgets: readonly HeldBudget[];
  readonly shares: readonly ReservedShare[];
}

const patienceMs = 250;
/** How often to check that Redis still has the reservations, since it may restart empty. */
const checkEveryMs = 10_000;
const mostPerRequest = 500;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: short functions that share the held reservations and the state of Redis.
export function openBudgets(options: BudgetOptions): Budgets {
  const { leases, metrics, now, use } = options;
  const held = new Map<string, HeldReservation>();
  const known = new KnownUse(options.instances);

  const restoreBook = async (ofBook: readonly HeldReservation[]): Promise<void> => {
    for (let at = 0; at < ofBook.length; at += mostPerRequest) {
      const some = ofBook.slice(at, at + mostPerRequest);
      const ids = some.map(({ receiptId }) => receiptId);
      const lost = new Set(await use.missing(elementAt(some, 0).book, ids));
      await Promise.all(
        some
          .filter(({ receiptId }) => lost.has(receiptId) && held.has(receiptId))
          .map((each) => use.reserveAnyway(each.book, each.receiptId, each.shares)),
      );
    }
  };
  const restore = async (): Promise<void> => {
    const books = new Map<string, HeldReservation[]>();
    for (const one of held.values()) {
      const name = `${one.book.accountId} ${one.book.month}`;
      const ofBook = books.get(name);
      if (ofBook) ofBook.push(one);
      else books.set(name, [one]);
    }
    await Promise.all([...books.values()].map(restoreBook));
  };
  const availability = watchAvailability({
    ...options,
    now: options.steady,
    register: restore,
    words: { alone: 'counts budgets, for its share of what is left', together: 'budgets are counted together again' },
  });
  const check = () => {
    known.forgetBefore(monthOf(now()));
    if (availability.together()) restore().catch(availability.lose);
  };
  const timer = setInterval(check, checkEveryMs);

  /** Resolves to null if Redis does not answer in time. */
  const ask = async (
    book: Book,
    receiptId: string,
    asked: readonly WantedShare[],
    open: OpenAnswer | null,
  ): Promise<Reserved | null> => {
    let error: unknown;
    let found: Reserved | null = null;
    const asking = use.reserve(book, receiptId, asked, open).then(
      (reply) => {
        found = reply;
      },
      (failed: unknown) => {
        error = failed;
        throw failed;
      },
    );
    if (await succeedsWithin(asking, { leftMs: patienceMs })) return found;
    availability.lose(error);
    return null;
  };

  const reservationOf = (
    one: HeldReservation,
    at: number,
    { assumed, steps: usual }: Wanted,
    { answer, used }: Reserved,
    isAlone: boolean,
  ) => {
    const { book, budgets, receiptId, shares } = one;
    // An answer is rarely as long as it is allowed to be, so that what is reserved for its length would be shown as used in vain.
    const shown = used.map((each, place) => each - elementAt(shares, place).steps + elementAt(usual, place));
    held.set(receiptId, one);
    const end = (settled: readonly SettledShare[] | null): void => {
      if (!held.delete(receiptId)) return;
      if (isAlone) known.correct(book.month, shares, settled ?? shares.map(({ id }) => ({ id, steps: 0 })));
      // Without Redis, the sums from Postgres include it later.
      if (!leases.connected()) return;
      const told = settled === null ? use.release(book, receiptId) : use.settle(book, receiptId, settled);
      told.catch(() => undefined);
    };
    const reservation: Reservation = {
      receiptId,
      at,
      assumed,
      answer,
      header: budgetHeader(budgets, shown),
      settle: (amounts, unstated) =>
        end(
          budgets.map(({ id, unit }) => {
            const amount = amounts[unit];
            if (amount !== null) return { id, steps: nearestSteps(unit, amount), isEstimate: false };
            return { id, steps: nearestSteps(unit, unstated[unit] ?? 0), isEstimate: true };
          }),
        ),
      release: () => end(null),
      forget: () => void held.delete(receiptId),
    };
    return reservation;
  };

  return {
    async reserve(accountId, budgets, estimateAt) {
      const at = now();
      const receiptId = newReceiptId(at);
      const book = { accountId, month: monthOf(at) };
      const { assumed, estimate, open } = estimateAt(new Date(at).toISOString());
      const wanted = budgets.map(({ amount, id, isHard, unit }): WantedShare => {
        const steps = stepsOf(unit, estimate[unit] ?? 0);
        // A soft budget bounds nothing.
        const longer = (amounts: Amounts | undefined) =>
          isHard ? Math.max(steps, stepsOf(unit, amounts?.[unit] ?? 0)) : steps;
        return {
          id,
          steps,
          assumed: nearestSteps(unit, assumed[unit] ?? 0),
          bounded: longer(open?.bounded),
          whole: longer(open?.whole),
          most: isHard ? nearestSteps(unit, amount) : null,
          floor: known.usedOf(id, book.month),
        };
      });
      const found = availability.together() ? await ask(book, receiptId, wanted, open) : null;
      const decision = found ?? known.decide(book.month, budgets, wanted, open);
      if (found) known.note(book.month, budgets, found, wanted);
      const { refusedBy } = decision;
      if (refusedBy !== null) {
        const refusing = elementAt(budgets, refusedBy);
        metrics.decided(refusing.unit, 'refused');
        // Redis may have reserved it all the same and only answered late.
        if (!found && leases.connected()) use.release(book, receiptId).catch(() => undefined);
        const used = elementAt(decision.used, refusedBy);
        const { steps } = elementAt(wanted, refusedBy);
        const share = found ? null : known.shareOf(refusing, book.month);
        return err(budgetExceeded({ at, budget: refusing, isHeld: decision.isHeld, share, steps, used }));
      }
      for (const [place, { amount, unit }] of budgets.entries())
        metrics.decided(unit, elementAt(decision.used, place) > nearestSteps(unit, amount) ? 'exceeded' : 'reserved');
      const shares = wanted.map(({ id, assumed }, place) => ({ id, assumed, steps: elementAt(decision.steps, place) }));
      const one: HeldReservation = { book, receiptId, budgets, shares };
      return ok(reservationOf(one, at, { assumed, steps: wanted.map(({ steps }) => steps) }, decision, !found));
    },
    local: () => !availability.together(),
    stop() {
      clearInterval(timer);
      availability.stop();
    },
  };
}
