/** Selects the receipts of a pack that have left Postgres. */
import type { EvidenceRequest } from '@gw/contract/evidence';
import { elementAt } from '@gw/contract/internal/defined';
import type { ArchivedRow } from '../receipts/archive-files.ts';
import { archivesIn } from '../receipts/archive-notes.ts';
import { type ArchiveStores, archivedPages } from '../receipts/archived-rows.ts';
import { timeOfReceipt } from '../receipts/receipt-id.ts';

export interface Period {
  readonly from: Date;
  readonly to: Date;
}

export type ReceiptFilter = Pick<EvidenceRequest, 'model' | 'receipt_ids' | 'region'>;

interface Selection {
  readonly asked: ReceiptFilter;
  readonly period: Period | null;
  /** No more receipts are read than one beyond it; null: the period has few. */
  readonly most: number | null;
}

/** All versions of the archived receipts whose newest version fits, in the order of their times. Throws if the archive does not answer. */
export async function selectArchived(
  stores: ArchiveStores,
  accountId: string,
  { asked, most, period }: Selection,
): Promise<ArchivedRow[]> {
  if ((await archivesIn(stores.db, stores.seals, period ?? {})).length === 0) return [];
  const rows: ArchivedRow[] = [];
  let count = 0;
  const pages =
    asked.receipt_ids === undefined
      ? archivedPages(stores, accountId, period ?? noPeriod, 'asc')
      : pagesOf(stores, accountId, asked.receipt_ids);
  for await (const page of pages) {
    for (const versions of byReceipt(page)) {
      const newest = elementAt(versions, versions.length - 1);
      if (!fits(newest, asked, period)) continue;
      rows.push(...versions);
      count += 1;
    }
    if (most !== null && count > most) break;
  }
  return rows;
}

const noPeriod = { from: null, to: null };

const fits = ({ created_at, model, region }: ArchivedRow, asked: ReceiptFilter, period: Period | null): boolean =>
  (asked.model === undefined || asked.model === model) &&
  (asked.region === undefined || asked.region === region) &&
  (period === null || (created_at >= period.from && created_at < period.to));

function byReceipt(page: readonly ArchivedRow[]): ArchivedRow[][] {
  const receipts = new Map<string, ArchivedRow[]>();
  for (const row of page) {
    const own = receipts.get(row.id);
    if (own === undefined) receipts.set(row.id, [row]);
    else own.push(row);
  }
  return [...receipts.values()];
}

/** Receipts by their ids, each file read once. */
async function* pagesOf(
  stores: ArchiveStores,
  accountId: string,
  ids: readonly string[],
): AsyncGenerator<ArchivedRow[]> {
  let page: readonly ArchivedRow[] = [];
  let last = '';
  for (const id of [...new Set(ids)].toSorted()) {
    const from = timeOfReceipt(id);
    if (from === null) continue;
    if (id > last) {
      const next = await archivedPages(stores, accountId, { from, to: null }, 'asc').next();
      page = next.done === true ? [] : next.value;
      const end = page.at(-1);
      last = end === undefined ? '' : end.id;
    }
    const versions = page.filter((row) => row.id === id);
    if (versions.length > 0) yield versions;
  }
}
