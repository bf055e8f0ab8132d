/**
 * Which receipts a pack holds: of one account, stored, and genuine.
 *
 * Invariant: what was asked for is in the pack or among what is excluded, with the reason; nothing is left out in silence.
 */
import type { EvidenceRequest } from '@gw/contract/evidence';
import type { Receipt } from '@gw/contract/receipt';
import type { Excluded } from '@gw/evidence/pack';
import { Prisma } from '@gw/prisma/client';
import type { Context } from '../../shared/context.ts';
import { newest } from '../receipts/ledger.ts';
import { readRows, storedColumns } from '../receipts/read-rows.ts';
import { timeOfReceipt } from '../receipts/receipt-id.ts';
import type { LedgerRow } from '../receipts/seal.ts';
import type { Seals } from '../receipts/sealed-rows.ts';

export interface Period {
  readonly from: Date;
  readonly to: Date;
}

export interface Selected {
  /** By time, id and version. */
  readonly rows: readonly LedgerRow[];
  readonly excluded: readonly Excluded[];
}

export type Asked = Pick<EvidenceRequest, 'model' | 'receipt_ids' | 'region'>;
type Stores = Pick<Context, 'db'> & { readonly seals: Seals };
interface Place {
  readonly id: string;
  readonly created_at: Date;
}

/** Returns null if there are more than `most`. */
export async function selectFew(
  stores: Stores,
  accountId: string,
  { asked, period, most }: { readonly asked: Asked; readonly period: Period | null; readonly most: number },
): Promise<Selected | null> {
  const places = await placesOf(stores, accountId, { asked, period, most });
  return places.length > most ? null : selectAt(stores, accountId, asked, places);
}

/** Of a window, of which it is known that it has few. */
export async function selectReceipts(
  stores: Stores,
  accountId: string,
  { asked, period }: { readonly asked: Asked; readonly period: Period | null },
): Promise<Selected> {
  return selectAt(stores, accountId, asked, await placesOf(stores, accountId, { asked, period, most: null }));
}

async function selectAt(stores: Stores, accountId: string, asked: Asked, places: readonly Place[]): Promise<Selected> {
  const rows = await versionsOf(stores, accountId, places);
  const faults = await stores.seals.check(rows);
  const found = new Set(places.map(({ id }) => id));
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

export const notGenuine = (id: string, version: number): Excluded => ({
  ...{ receipt_id: id, version, code: 'not_genuine', reason: 'What is stored is not what was issued.' },
});

const notFound = 'The account has no such receipt among those asked for, or it is not stored yet.';

function placesOf(
  { db }: Stores,
  accountId: string,
  { asked, most, period }: { readonly asked: Asked; readonly period: Period | null; readonly most: number | null },
): Promise<Place[]> {
  const conditions = [...filtersOf(accountId, asked), newest];
  if (period !== null) conditions.push(Prisma.sql`r.created_at >= ${period.from} AND r.created_at < ${period.to}`);
  if (asked.receipt_ids !== undefined) {
    const ids = asked.receipt_ids.filter((id) => timeOfReceipt(id) !== null);
    const times = ids.map((id) => timeOfReceipt(id));
    // By their times too: they name the partitions.
    conditions.push(
      Prisma.sql`(r.id, r.created_at) IN (SELECT * FROM unnest(${ids}::text[], ${times}::timestamptz[]))`,
    );
  }
  return db.$queryRaw<Place[]>`
    SELECT r.id, r.created_at FROM receipts r WHERE ${Prisma.join(conditions, ' AND ')}
    ORDER BY r.created_at, r.id ${most === null ? Prisma.empty : Prisma.sql`LIMIT ${most + 1}`}`;
}

/** Of `receipts r`: those of the account, and of the model and the region that were asked for. */
export function filtersOf(accountId: string, { model, region }: Asked): Prisma.Sql[] {
  const conditions = [Prisma.sql`r.account_id = ${accountId}`];
  if (model !== undefined) conditions.push(Prisma.sql`r.model = ${model}`);
  if (region !== undefined) conditions.push(Prisma.sql`r.region = ${region}`);
  return conditions;
}

async function versionsOf({ db }: Stores, accountId: string, places: readonly Place[]): Promise<LedgerRow[]> {
  if (places.length === 0) return [];
  const ids = places.map(({ id }) => id);
  const times = places.map(({ created_at }) => created_at);
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
