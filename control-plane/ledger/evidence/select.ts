/**
 * Selects the receipts of a pack: stored and genuine receipts of one account.
 *
 * Invariant: every receipt that was asked for is in the pack or is excluded with a reason; nothing is left out silently.
 */
import { defined } from '@gw/contract/internal/defined';
import type { Receipt } from '@gw/contract/receipt';
import type { Excluded } from '@gw/evidence/pack';
import { Prisma } from '@gw/prisma/client';
import type { Context } from '../../shared/context.ts';
import { newest } from '../receipts/ledger.ts';
import { readRows, storedColumns } from '../receipts/read-rows.ts';
import { timeOfReceipt } from '../receipts/receipt-id.ts';
import type { LedgerRow } from '../receipts/seal.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import { type Period, type ReceiptFilter, selectArchived } from './select-archived.ts';

export interface Selected {
  /** Sorted by time, id and version. */
  readonly rows: readonly LedgerRow[];
  readonly excluded: readonly Excluded[];
}

type Stores = Pick<Context, 'db' | 'objects'> & { readonly seals: Seals };
interface ReceiptKey {
  readonly id: string;
  readonly created_at: Date;
}

/** Returns null if there are more than `most`, or if more files of archived months would have to be read than one request reads. */
export async function selectFew(
  stores: Stores,
  accountId: string,
  { asked, period, most }: { readonly asked: ReceiptFilter; readonly period: Period | null; readonly most: number },
): Promise<Selected | null> {
  const keys = await keysOf(stores, accountId, { asked, period, most });
  if (keys.length > most) return null;
  const selected = await selectAt(stores, accountId, { asked, keys, period, most });
  if (selected === null) return null;
  return new Set(selected.rows.map(({ id }) => id)).size > most ? null : selected;
}

/** Selects the receipts of a window, which are known to be few. */
export async function selectReceipts(
  stores: Stores,
  accountId: string,
  { asked, period }: { readonly asked: ReceiptFilter; readonly period: Period | null },
): Promise<Selected> {
  const keys = await keysOf(stores, accountId, { asked, period, most: null });
  return defined(await selectAt(stores, accountId, { asked, keys, period, most: null }), 'A window of a pack');
}

async function selectAt(
  stores: Stores,
  accountId: string,
  {
    asked,
    keys,
    most,
    period,
  }: {
    readonly asked: ReceiptFilter;
    readonly keys: readonly ReceiptKey[];
    readonly period: Period | null;
    readonly most: number | null;
  },
): Promise<Selected | null> {
  const { seals } = stores;
  const stored = await versionsOf(stores, accountId, keys);
  // The rows count and not the keys, because a month can be detached between the two.
  const found = new Set(stored.map(({ id }) => id));
  const left = await selectArchived(stores, accountId, { asked, period, most });
  if (left === null) return null;
  const archived = left.filter(({ id }) => !found.has(id));
  for (const { id } of archived) found.add(id);
  const rows = archived.length === 0 ? stored : [...archived, ...stored].toSorted(inOrder);
  const faults = await seals.check(rows);
  const missing = (asked.receipt_ids ?? []).filter((id) => !found.has(id));
  return {
    rows: rows.filter((_, at) => faults[at] === null),
    excluded: [
      ...rows.flatMap(({ id, version }, at) => (faults[at] === null ? [] : [notGenuine(id, version)])),
      ...[...new Set(missing)].map((id) => ({
        receipt_id: id,
        version: null,
        code: 'not_found' as const,
        reason: notFound,
      })),
    ],
  };
}

const inOrder = (one: LedgerRow, other: LedgerRow): number =>
  +one.created_at - +other.created_at ||
  (one.id === other.id ? one.version - other.version : one.id < other.id ? -1 : 1);

export const notGenuine = (id: string, version: number): Excluded => ({
  receipt_id: id,
  version,
  code: 'not_genuine',
  reason: 'What is stored is not what was issued.',
});

const notFound = 'The account has no such receipt among those asked for, or it is not stored yet.';

function keysOf(
  { db }: Stores,
  accountId: string,
  {
    asked,
    most,
    period,
  }: { readonly asked: ReceiptFilter; readonly period: Period | null; readonly most: number | null },
): Promise<ReceiptKey[]> {
  const conditions = [...filtersOf(accountId, asked), newest];
  if (period !== null) conditions.push(Prisma.sql`r.created_at >= ${period.from} AND r.created_at < ${period.to}`);
  if (asked.receipt_ids !== undefined) {
    const ids = asked.receipt_ids.filter((id) => timeOfReceipt(id) !== null);
    const times = ids.map((id) => timeOfReceipt(id));
    // The times are compared too, because they name the partitions.
    conditions.push(
      Prisma.sql`(r.id, r.created_at) IN (SELECT * FROM unnest(${ids}::text[], ${times}::timestamptz[]))`,
    );
  }
  return db.$queryRaw<ReceiptKey[]>`
    SELECT r.id, r.created_at FROM receipts r WHERE ${Prisma.join(conditions, ' AND ')}
    ORDER BY r.created_at, r.id ${most === null ? Prisma.empty : Prisma.sql`LIMIT ${most + 1}`}`;
}

/** Conditions on `receipts r`: the account, and the model and the region that were asked for. */
export function filtersOf(accountId: string, { model, region }: ReceiptFilter): Prisma.Sql[] {
  const conditions = [Prisma.sql`r.account_id = ${accountId}`];
  if (model !== undefined) conditions.push(Prisma.sql`r.model = ${model}`);
  if (region !== undefined) conditions.push(Prisma.sql`r.region = ${region}`);
  return conditions;
}

async function versionsOf({ db }: Stores, accountId: string, keys: readonly ReceiptKey[]): Promise<LedgerRow[]> {
  if (keys.length === 0) return [];
  const ids = keys.map(({ id }) => id);
  const times = keys.map(({ created_at }) => created_at);
  return readRows(
    db,
    Prisma.sql`
    SELECT ${storedColumns} FROM receipts r
    WHERE r.account_id = ${accountId}
      AND (r.id, r.created_at) IN (SELECT * FROM unnest(${ids}::text[], ${times}::timestamptz[]))
    ORDER BY r.created_at, r.id, r.version`,
  );
}

export const receiptOfRow = ({ body }: LedgerRow): Receipt => JSON.parse(body);
