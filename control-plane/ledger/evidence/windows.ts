/**
 * Cuts what a long pack was asked for into windows, each of which has few receipts and few entries of the log.
 *
 * Invariants: the windows are the asked range, without a gap and without overlap, whatever is stored meanwhile: so each receipt
 * that was there at the beginning is in exactly one. One that comes behind the window that is being read is in none, as if it had
 * come after the pack. No transaction is open from one window to the next.
 */
import type { EvidenceRequest } from '@gw/contract/evidence';
import { type Database, Prisma } from '@gw/prisma/client';
import { timeOfReceipt } from '../receipts/receipt-id.ts';
import { type Asked, filtersOf, type Period } from './select.ts';

export interface Window {
  readonly asked: Asked;
  readonly period: Period | null;
}

export interface LongSelection {
  readonly accountId: string;
  readonly asked: EvidenceRequest;
  /** Null for receipts that are asked for by their ids alone. */
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

/** As the receipts of a pack stand. */
function byTime(one: string, other: string): number {
  const [a, b] = [one, other].map((id) => timeOfReceipt(id)?.getTime() ?? 0);
  if (a !== undefined && b !== undefined && a !== b) return a - b;
  return one < other ? -1 : 1;
}

/** Where a window that begins at `from` ends. All receipts of a millisecond are in one window. */
async function endOf(
  db: Database,
  { accountId, asked, period }: { readonly accountId: string; readonly asked: Asked; readonly period: Period },
  size: number,
): Promise<Date> {
  const { from, to } = period;
  const within = (filters: readonly Prisma.Sql[], table: string) => db.$queryRaw<{ created_at: Date }[]>`
    SELECT r.created_at FROM ${Prisma.raw(table)} r
    WHERE ${Prisma.join([...filters], ' AND ')} AND r.created_at >= ${from} AND r.created_at < ${to}
    ORDER BY r.created_at OFFSET ${size} LIMIT 1`;
  const found = await Promise.all([
    within(filtersOf(accountId, asked), 'receipts'),
    // Of receipts that are gone there are entries alone.
    within([Prisma.sql`r.account_id = ${accountId}`], 'receipt_log'),
  ]);
  const ends = found.flat().map(({ created_at }) => created_at.getTime());
  const end = Math.min(to.getTime(), ...ends);
  return new Date(Math.max(end, from.getTime() + 1));
}

/** How many versions of receipts there are; null if counting them takes too long. */
export async function countVersions(db: Database, { accountId, asked, period }: LongSelection): Promise<number | null> {
  if (period === null || asked.receipt_ids !== undefined) return asked.receipt_ids?.length ?? null;
  const filters = Prisma.join(filtersOf(accountId, asked), ' AND ');
  try {
    const [found] = await db.$queryRaw<{ count: number }[]>`
      SELECT count(*)::float8 AS count FROM receipts r
      WHERE ${filters} AND r.created_at >= ${period.from} AND r.created_at < ${period.to}`;
    return found?.count ?? null;
  } catch {
    // Only whoever waits misses it; the build finds out for itself if Postgres is away.
    return null;
  }
}
