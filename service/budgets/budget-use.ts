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
  /** The most steps that may be used; null: unlimited. */
  readonly most: number | null;
  /** The least use known to this instance, in case Redis has lost its count. */
  readonly floor: number;
}

export interface Reserved {
  /** Index of the budget that has too little left; null: all were reserved. */
  readonly refusedBy: number | null;
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
  /** Reserves from all budgets of a call, or from none. `anyway`: also above a limit, unless the call is already known. */
  reserve(book: Book, receiptId: string, asked: readonly WantedShare[], anyway?: boolean): Promise<Reserved>;
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
    async reserve(book, receiptId, asked, anyway = false) {
      const rules = asked.flatMap(({ assumed, floor, id, most, steps }) => [id, steps, most ?? -1, floor, assumed]);
      const reply = await run(reserveScript, book, [receiptId, anyway ? 1 : 0, ...rules]);
      const [refused, ...found] = reply as [number, ...number[]];
      const used = asked.map((_, at) => elementAt(found, 2 * at));
      const known = asked.map((_, at) => found[2 * at + 1] === 1);
      return { refusedBy: refused === 0 ? null : refused - 1, used, known };
    },
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
