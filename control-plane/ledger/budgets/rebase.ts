/**
 * Puts the sums of receipts below what Redis counts of budgets, so that whatever Redis missed or lost is right again; and
 * notes those of which much is used, for their webhooks.
 *
 * Invariant: a call is in the sums or among the calls that Redis counts beside them, never in both and never in neither: the
 * calls are read after the snapshot of Postgres was taken, so each receipt in it was among them before; and whoever has
 * another turn since does nothing.
 */
import {
  amountOf,
  type BudgetUnit,
  boundsOfMonth,
  budgetUnits,
  monthBefore,
  monthOf,
  nearestSteps,
} from '@gw/contract/internal/budgets';
import { minuteMs } from '@gw/contract/internal/durations';
import { budgetCallsKey, pendingReceiptsKey, receiptKey } from '@gw/contract/internal/redis';
import { Prisma } from '@gw/prisma/client';
import { type Book, type CountedCall, redisBudgetUse } from '@gw/service/budgets';
import type { Redis } from 'ioredis';
import type { Context } from '../../shared/context.ts';
import { type RepeatedJob, repeat } from '../../shared/repeat.ts';
import { timeOfReceipt } from '../receipts/receipt-id.ts';
import { storeEstimates } from '../receipts/store-estimates.ts';
import { storedOf } from './estimates.ts';
import { usedIn } from './sums.ts';
import { noteThresholds } from './webhooks/note.ts';

type Stores = Pick<Context, 'currency' | 'db' | 'redis' | 'log' | 'now'>;

/** How often the sums of an account are put below while it has calls, ms; less often where they take long. */
const everyMs = 2000;
/** How often this is done for accounts without calls, whose receipts can still be restated, ms. */
const idleEveryMs = 30_000;
/** The sums take this part of the time at most; those that fail too, after pauses that grow up to it. */
const mostLoad = 0.05;
/** A reservation of which there is no sign for so long was of a call that reached no provider. */
const signWithinMs = 2 * minuteMs;

export interface BudgetRow {
  readonly id: string;
  readonly scope: string;
  readonly name: string;
  readonly unit: BudgetUnit;
  readonly amount: number;
  readonly kind: string;
}

const isUnit = (unit: string): unit is BudgetUnit => budgetUnits.some((each) => each === unit);

/** The budgets of an account that this release knows. */
export async function budgetsOf(db: Context['db'], accountId: string): Promise<BudgetRow[]> {
  const rows = await db.budget.findMany({ where: { accountId }, orderBy: { id: 'asc' } });
  return rows.flatMap((row) => (isUnit(row.unit) ? [{ ...row, unit: row.unit }] : []));
}

/** Puts the sums of one account and month below. Returns false if another instance did so meanwhile. */
export async function rebase({ currency, db, redis, log, now }: Stores, book: Book): Promise<boolean> {
  const use = redisBudgetUse(redis);
  const budgets = await budgetsOf(db, book.accountId);
  const turn = await use.turn(book);
  const { calls, gone, used } = await db.$transaction(
    async (tx) => {
      // Takes the snapshot, before the calls are read.
      await tx.$queryRaw`SELECT 1 FROM receipts LIMIT 1`;
      const calls = await use.calls(book);
      const { from, to } = boundsOfMonth(book.month);
      const gone = await storedOf(tx, [...calls.keys()], from, to);
      await storeEstimates(tx, unsettled(book, budgets, calls, gone));
      return { calls, gone, used: await usedIn(tx, { currency }, book) };
    },
    { isolationLevel: Prisma.TransactionIsolationLevel.RepeatableRead, timeout: 60_000, maxWait: 10_000 },
  );
  const stored = new Set(gone);
  const reserved = [...calls].flatMap(([id, call]) => (call.state === 'reserved' && !stored.has(id) ? [id] : []));
  const lapsed = await lapsedOf(redis, reserved, now().getTime());
  if (lapsed.length > 0)
    log.info(
      { accountId: book.accountId, lapsed: lapsed.length },
      'gave back what calls had reserved that reached no provider',
    );
  const bases = budgets.map((budget) => {
    const { estimated, stated } = used(budget);
    const assumed = nearestSteps(budget.unit, estimated);
    return { id: budget.id, steps: nearestSteps(budget.unit, stated) + assumed, estimated: assumed };
  });
  const isPut = await use.rebase(book, turn, bases, [...gone, ...lapsed]);
  // Another instance may have noted it before; its note stays as it is.
  const withUse = budgets.map((budget) => ({ ...budget, used: used(budget) }));
  await noteThresholds(db, book, withUse, now());
  return isPut;
}

/** Stores what is assumed for calls that somebody other than their sidecar has reported to the ledger, since their receipts can lack numbers. */
const unsettled = (
  { accountId }: Book,
  budgets: readonly BudgetRow[],
  calls: ReadonlyMap<string, CountedCall>,
  stored: readonly string[],
) =>
  stored.flatMap((id) => {
    const call = calls.get(id);
    const time = timeOfReceipt(id);
    if (call?.state !== 'reserved' || time === null) return [];
    const estimate = Object.fromEntries(
      call.shares.flatMap((share) =>
        budgets.filter((each) => each.id === share.id).map(({ unit }) => [unit, amountOf(unit, share.assumed)]),
      ),
    );
    return [{ row: { id, created_at: time.toISOString(), account_id: accountId }, estimate }];
  });

/** Returns the calls of which Redis has no receipt, pending or on its way, although their sidecar had time to report one. */
async function lapsedOf(redis: Redis, ids: readonly string[], nowMs: number): Promise<string[]> {
  const old = ids.filter((id) => (timeOfReceipt(id)?.getTime() ?? 0) < nowMs - signWithinMs);
  if (old.length === 0) return [];
  const [pending, texts] = await Promise.all([
    redis.zmscore(pendingReceiptsKey, ...old),
    Promise.all(old.map((id) => redis.exists(receiptKey(id)))),
  ]);
  return old.filter((_, at) => pending[at] === null && texts[at] === 0);
}

/** Puts the sums of all accounts that have budgets below, in every instance; whoever comes second does nothing. */
export function startRebasing(stores: Stores): RepeatedJob {
  const { db, log, now, redis } = stores;
  const use = redisBudgetUse(redis);
  /** The last try by account and month: when it began, how long it took, and how many have failed since one did not. */
  const tries = new Map<string, { readonly at: number; readonly tookMs: number; readonly failures: number }>();
  const rebaseIfDue = async (book: Book): Promise<void> => {
    const name = `${book.accountId} ${book.month}`;
    const calls = await redis.hlen(budgetCallsKey(book.accountId, book.month));
    const { at = Number.NEGATIVE_INFINITY, failures = 0, tookMs = 0 } = tries.get(name) ?? {};
    const pauses = failures > 0 ? Math.min(2 ** failures, 1 / mostLoad) : 1 / mostLoad;
    const rest = Math.max(calls > 0 || failures > 0 ? everyMs : idleEveryMs, tookMs * pauses);
    const begun = performance.now();
    // A Redis that lost the sums gets them at once, but for those that Postgres did not give a moment ago.
    if (begun < at + rest && (failures > 0 || (await use.turn(book)) > 0)) return;
    const note = (failures: number) => tries.set(name, { at: begun, tookMs: performance.now() - begun, failures });
    try {
      await rebase(stores, book);
      note(0);
    } catch (error) {
      note(failures + 1);
      throw error;
    }
  };
  /** An account whose sums fail does not hold up the others. */
  const rebaseAll = async (books: readonly Book[]): Promise<void> => {
    const errors: unknown[] = [];
    for (const book of books) await rebaseIfDue(book).catch((error: unknown) => errors.push(error));
    if (errors.length > 0) throw errors[0];
  };
  return repeat({
    name: 'sums of budgets',
    everyMs: everyMs / 2,
    log,
    run: async () => {
      const accounts = await db.budget.findMany({ distinct: ['accountId'], select: { accountId: true } });
      const nowMs = now().getTime();
      for (const name of tries.keys()) if (name.slice(-7) < monthBefore(nowMs)) tries.delete(name);
      const books: Book[] = [];
      for (const { accountId } of accounts) {
        const before = { accountId, month: monthBefore(nowMs) };
        if ((await redis.hlen(budgetCallsKey(accountId, before.month))) > 0) books.push(before);
        books.push({ accountId, month: monthOf(nowMs) });
      }
      await rebaseAll(books);
    },
  });
}
