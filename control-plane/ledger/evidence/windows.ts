/**
 * Cuts the range of a pack into windows, each of which has few receipts and few entries of the log.
 *
 * Invariants: the windows cover the range without a gap and without overlap, whatever is stored meanwhile, so each receipt
 * that was there at the beginning is in exactly one. A receipt that arrives behind the current window is in none, as if it had
 * come after the pack. No transaction stays open from one window to the next.
 */
import type { EvidenceRequest } from '@gw/contract/evidence';
import { type Database, Prisma } from '@gw/prisma/client';
import { timeOfReceipt } from '../receipts/receipt-id.ts';
import { filtersOf } from './select.ts';
import type { Period, ReceiptFilter } from './select-archived.ts';

export interface Window {
  readonly asked: ReceiptFilter;
  readonly period: Period | null;
}

export interface LongSelection {
  readonly accountId: string;
  readonly asked: EvidenceRequest;
  /** Null: the receipts are chosen by their ids alone. */
  readonly period: Period | null;
}

export async function* windowsOf(
  db: Database,
  { accountId, asked, period }: LongSelection,
  size: number,
): AsyncGenerator<Window> {
  const { receipt_ids } = asked;
  if (receipt_ids !== undefined) {
    const ids = [...new Set(receipt_ids)].toSorted(byTime);
    for (let at = 0; at < ids.length; at += size)
      yield { asked: { ...asked, receipt_ids: ids.slice(at, at + size) }, period };
    return;
  }
  if (period === null) throw new Error('A pack has a period or ids.');
  for (let { from } = period; from < period.to; ) {
    const to = await endOf(db, { accountId, asked, period: { from, to: period.to } }, size);
    yield { asked, period: { from, to } };
    from = to;
  }
}

/** Sorts ids in the order of receipts in a pack. */
function byTime(one: string, other: string): number {
  // Only an id that no receipt can have lacks a time.
  const timeOf = (id: string) => timeOfReceipt(id)?.getTime() ?? 0;
  return timeOf(one) - timeOf(other) || (one < other ? -1 : 1);
}

/** Finds the end of a window that begins at `from`. All receipts of a millisecond are in one window. */
async function endOf(
  db: Database,
  { accountId, asked, period }: { readonly accountId: string; readonly asked: ReceiptFilter; readonly period: Period },
  size: number,
): Promise<Date> {
  const { from, to } = period;
  const within = (filters: readonly Prisma.Sql[], table: string) => db.$queryRaw<{ created_at: Date }[]>`
    SELECT r.created_at FROM ${Prisma.raw(table)} r
    WHERE ${Prisma.join([...filters], ' AND ')} AND r.created_at >= ${from} AND r.created_at < ${to}
    ORDER BY r.created_at OFFSET ${size} LIMIT 1`;
  const found = await Promise.all([
    within(filtersOf(accountId, asked), 'receipts'),
    // Receipts that are gone still have entries.
    within([Prisma.sql`r.account_id = ${accountId}`], 'receipt_log'),
  ]);
  const ends = found.flat().map(({ created_at }) => created_at.getTime());
  const end = Math.min(to.getTime(), ...ends);
  return new Date(Math.max(end, from.getTime() + 1));
}

/** Counts the versions of receipts; null if counting takes too long. */
export async function countVersions(db: Database, { accountId, asked, period }: LongSelection): Promise<number | null> {
  if (period === null || asked.receipt_ids !== undefined) return asked.receipt_ids?.length ?? null;
  const filters = Prisma.join(filtersOf(accountId, asked), ' AND ');
  try {
    const [found] = await db.$queryRaw<{ count: number }[]>`
      SELECT count(*)::float8 AS count FROM receipts r
      WHERE ${filters} AND r.created_at >= ${period.from} AND r.created_at < ${period.to}`;
    return found?.count ?? null;
  } catch {
    // The count is only shown to the client; the build itself finds out if Postgres is unavailable.
    return null;
  }
}
