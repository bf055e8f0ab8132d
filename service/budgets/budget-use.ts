/**
 * What is used of budgets, counted in Redis by all instances together.
 *
 * Invariant: commands reach Redis in the order in which they were asked for, so that a call is settled after it was reserved.
 * The promises reject if Redis does not answer.
 */
import { budgetCallsKey, budgetUseKey } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';
import { rebaseScript, releaseScript, reserveScript, settleScript } from './scripts.lua.ts';

/** Whose budgets, and of which month (`2026-11`). */
export interface Book {
  readonly accountId: string;
  readonly month: string;
}

/** So many steps of one budget. */
export interface Share {
  readonly id: string;
  readonly steps: number;
}

export interface Asked extends Share {
  /** The most steps that may be used; null: as many as there are. */
  readonly most: number | null;
  /** What is used at least, as far as this instance knows: it counts where Redis has lost what it knew. */
  readonly floor: number;
}

export interface Reserved {
  /** The place of the budget that has too little left; null: it was reserved. */
  readonly refusedBy: number | null;
  /** What is used of each, with this call if it was reserved. */
  readonly used: readonly number[];
  /** Whether Redis knows what the receipts of each sum up to. */
  readonly known: readonly boolean[];
}

export interface BudgetState {
  /** Null: Redis has not been told yet what the receipts sum up to. */
  readonly base: number | null;
  readonly used: number;
  readonly held: number;
}

export interface CountedCall {
  readonly state: 'reserved' | 'settled';
  readonly shares: readonly Share[];
}

export interface BudgetUse {
  /** Reserves of all budgets of a call, or of none. `anyway`: also above an amount, unless the call is there already. */
  reserve(book: Book, receiptId: string, asked: readonly Asked[], anyway?: boolean): Promise<Reserved>;
  settle(book: Book, receiptId: string, shares: readonly Share[]): Promise<unknown>;
  release(book: Book, receiptId: string): Promise<unknown>;
  /** Returns those of the receipts whose calls Redis does not know. */
  missing(book: Book, receiptIds: readonly string[]): Promise<string[]>;
  /** Which turn of bases it is, for `rebase`. */
  turn(book: Book): Promise<number>;
  /** The calls that are in no base, by the ids of their receipts. */
  calls(book: Book): Promise<ReadonlyMap<string, CountedCall>>;
  /** Sets the bases and forgets the calls in them; false if another turn has come since. */
  rebase(book: Book, turn: number, bases: readonly Share[], inBases: readonly string[]): Promise<boolean>;
  state(book: Book, id: string): Promise<BudgetState>;
}

export function redisBudgetUse(redis: Redis): BudgetUse {
  // Scripts travel whole, as those of slots do: one that has to be sent again would come behind what was asked after it.
  const run = (script: string, { accountId, month }: Book, args: readonly (string | number)[]) =>
    redis.eval(script, 2, budgetUseKey(accountId, month), budgetCallsKey(accountId, month), ...args);
  const flat = (shares: readonly Share[]) => shares.flatMap(({ id, steps }) => [id, steps]);
  return {
    async reserve(book, receiptId, asked, anyway = false) {
      const rules = asked.flatMap(({ floor, id, most, steps }) => [id, steps, most ?? -1, floor]);
      const reply = await run(reserveScript, book, [receiptId, anyway ? 1 : 0, ...rules]);
      const [refused = 0, ...found] = reply as number[];
      const used = asked.map((_, at) => found[2 * at] ?? 0);
      const known = asked.map((_, at) => found[2 * at + 1] === 1);
      return { refusedBy: refused === 0 ? null : refused - 1, used, known };
    },
    settle: (book, receiptId, shares) => run(settleScript, book, [receiptId, ...flat(shares)]),
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
      (await run(rebaseScript, book, [turn, bases.length, ...flat(bases), ...inBases])) === 1,
    async state({ accountId, month }, id) {
      const fields = [`base:${id}`, `used:${id}`, `held:${id}`];
      const [base, used, held] = await redis.hmget(budgetUseKey(accountId, month), ...fields);
      return { base: base == null ? null : Number(base), used: Number(used ?? 0), held: Number(held ?? 0) };
    },
  };
}

const callOf = (entry: string): CountedCall => ({
  state: entry.startsWith('r') ? 'reserved' : 'settled',
  shares: [...entry.matchAll(/([\w-]+)=(\d+)/g)].map(([, id = '', steps]) => ({ id, steps: Number(steps) })),
});
