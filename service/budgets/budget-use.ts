/**
 * The use of budgets, counted in Redis by all instances together.
 *
 * Invariant: commands reach Redis in the order of the calls here, so that a call is settled after it was reserved. The promises reject
 * if Redis does not answer.
 */
import { elementAt } from '@gw/contract/internal/defined';
import { budgetCallsKey, budgetUseKey } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';
import { rebaseScript, releaseScript, reserveScript, settleScript } from './scripts.lua.ts';

/** The budgets of an account in a month (`2026-11`). */
export interface Book {
  readonly accountId: string;
  readonly month: string;
}

/** A number of steps of one budget. */
export interface BudgetShare {
  readonly id: string;
  readonly steps: number;
}

/** The use of a call that has ended. */
export interface SettledShare extends BudgetShare {
  /** Whether its receipt has no number, so that the steps are assumed. */
  readonly isEstimate: boolean;
}

/** The sum of the receipts of one budget. */
export interface BudgetBase extends BudgetShare {
  /** The part of the steps that is assumed for receipts without a number. */
  readonly estimated: number;
}

export interface ReservedShare extends BudgetShare {
  /** The steps that count if nobody settles the call and its receipt has no number. */
  readonly assumed: number;
}

export interface WantedShare extends ReservedShare {
  /** The steps with an answer of the length `to`, and with the longest that the model can write; both `steps` without an open answer. */
  readonly bounded: number;
  readonly whole: number;
  /** The most steps that may be used; null: unlimited. */
  readonly most: number | null;
  /** The least use known to this instance, in case Redis has lost its count. */
  readonly floor: number;
}

/**
 * An answer that nobody has bounded, so that it can become longer than what is reserved. Lengths are in tokens. Between the two the use is taken
 * to grow evenly. It grows faster the longer the answer is, so the length that is found is never too long.
 */
export interface OpenAnswer {
  /** The length that the steps of the shares assume. */
  readonly from: number;
  /** The longest that it can be bounded to. */
  readonly to: number;
}

export interface Reserved {
  /** Index of the budget that has too little left; null: all were reserved. */
  readonly refusedBy: number | null;
  /** The call was refused, and would not have been if the calls under way had reserved the steps that are assumed of them, and no more. */
  readonly isHeld: boolean;
  /** The steps of each budget that were reserved. */
  readonly steps: readonly number[];
  /** The length that an open answer has to be bounded to, for the steps to suffice; null: they suffice for the longest. */
  readonly answer: number | null;
  /** The use of each budget, including this call if it was reserved. */
  readonly used: readonly number[];
  /** For each budget, whether Redis has the sum of its receipts. */
  readonly known: readonly boolean[];
}

export interface BudgetState {
  /** Null: Redis does not have the sum of the receipts yet. */
  readonly base: number | null;
  /** All that counts: receipts, assumptions and reservations. */
  readonly used: number;
  readonly held: number;
  /** The part that is assumed for calls whose receipts have no number. */
  readonly estimated: number;
}

export type CountedCall =
  | { readonly state: 'reserved'; readonly shares: readonly ReservedShare[] }
  | { readonly state: 'settled'; readonly shares: readonly BudgetShare[] };

export interface BudgetUse {
  /**
   * Reserves from all budgets of a call, or from none. Of an open answer the longest that the model can write is reserved if that fits, or
   * else as much as there is room for up to `to`.
   */
  reserve(book: Book, receiptId: string, asked: readonly WantedShare[], open: OpenAnswer | null): Promise<Reserved>;
  /** Reserves also above a limit, unless the call is already known. */
  reserveAnyway(book: Book, receiptId: string, shares: readonly ReservedShare[]): Promise<unknown>;
  settle(book: Book, receiptId: string, shares: readonly SettledShare[]): Promise<unknown>;
  release(book: Book, receiptId: string): Promise<unknown>;
  /** Returns the receipts whose calls Redis does not know. */
  missing(book: Book, receiptIds: readonly string[]): Promise<string[]>;
  /** Returns the number of the current bases, for `rebase`. */
  turn(book: Book): Promise<number>;
  /** Returns the calls that no base includes, by receipt id. */
  calls(book: Book): Promise<ReadonlyMap<string, CountedCall>>;
  /** Sets the bases and forgets the calls in them. Returns false if another instance has done so since `turn`. */
  rebase(book: Book, turn: number, bases: readonly BudgetBase[], inBases: readonly string[]): Promise<boolean>;
  state(book: Book, id: string): Promise<BudgetState>;
}

export function redisBudgetUse(redis: Redis): BudgetUse {
  // EVAL and not EVALSHA: a script that has to be sent again would arrive after later commands.
  const run = (script: string, { accountId, month }: Book, args: readonly (string | number)[]) =>
    redis.eval(script, 2, budgetUseKey(accountId, month), budgetCallsKey(accountId, month), ...args);
  return {
    async reserve(book, receiptId, asked, open) {
      const rules = asked.flatMap((each) => rulesOf(each, each.most ?? -1));
      const span = open === null ? 0 : open.to - open.from;
      const reply = await run(reserveScript, book, [receiptId, 0, span, ...rules]);
      const [refused, longer, ...found] = reply as [number, number, ...number[]];
      const each = (place: number) => asked.map((_, at) => elementAt(found, 3 * at + place));
      return {
        refusedBy: refused === 0 ? null : refused - 1,
        isHeld: refused > 0 && longer === 1,
        answer: refused > 0 || open === null || longer < 0 ? null : open.from + longer,
        used: each(0),
        known: each(1).map((is) => is === 1),
        steps: each(2),
      };
    },
    reserveAnyway: (book, receiptId, shares) =>
      run(reserveScript, book, [receiptId, 1, 0, ...shares.flatMap((each) => rulesOf(each, -1))]),
    settle: (book, receiptId, shares) =>
      run(settleScript, book, [
        receiptId,
        ...shares.flatMap(({ id, isEstimate, steps }) => [id, steps, isEstimate ? '~' : '=']),
      ]),
    release: (book, receiptId) => run(releaseScript, book, [receiptId]),
    async missing({ accountId, month }, receiptIds) {
      const entries = await redis.hmget(budgetCallsKey(accountId, month), ...receiptIds);
      return receiptIds.filter((_, at) => entries[at] === null);
    },
    turn: async ({ accountId, month }) => Number((await redis.hget(budgetUseKey(accountId, month), 'turn')) ?? 0),
    async calls({ accountId, month }) {
      const entries = Object.entries(await redis.hgetall(budgetCallsKey(accountId, month)));
      return new Map(entries.map(([id, entry]) => [id, callOf(entry)]));
    },
    rebase: async (book, turn, bases, inBases) =>
      (await run(rebaseScript, book, [
        turn,
        bases.length,
        ...bases.flatMap(({ estimated, id, steps }) => [id, steps, estimated]),
        ...inBases,
      ])) === 1,
    async state({ accountId, month }, id) {
      const fields = [`base:${id}`, `used:${id}`, `held:${id}`, `estimated:${id}`];
      const [base, used, held, estimated] = await redis.hmget(budgetUseKey(accountId, month), ...fields);
      return {
        base: base == null ? null : Number(base),
        used: Number(used ?? 0),
        held: Number(held ?? 0),
        estimated: Number(estimated ?? 0),
      };
    },
  };
}

/** The arguments of `reserveScript` for one budget. */
const rulesOf = (
  { assumed, id, steps, bounded = steps, floor = 0, whole = steps }: ReservedShare & Partial<WantedShare>,
  most: number,
) => [id, steps, most, floor, assumed, bounded, whole];

function callOf(entry: string): CountedCall {
  if (entry.startsWith('s')) {
    const settled = entry.matchAll(/([\w-]+)[=~](\d+)/g);
    return { state: 'settled', shares: [...settled].map(([, id = '', steps]) => ({ id, steps: Number(steps) })) };
  }
  const reserved = [...entry.matchAll(/([\w-]+)=(\d+)\+(\d+)/g)];
  const shares = reserved.map(([, id = '', steps, assumed]) => ({
    id,
    steps: Number(steps),
    assumed: Number(assumed),
  }));
  return { state: 'reserved', shares };
}
