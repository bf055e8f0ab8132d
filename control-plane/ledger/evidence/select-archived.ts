/** Selects the receipts of a pack that have left Postgres. */
import type { EvidenceRequest } from '@gw/contract/evidence';
import { elementAt } from '@gw/contract/internal/defined';
import type { ArchivedRow } from '../receipts/archive-files.ts';
import { archivesIn, leastId, nextMonth } from '../receipts/archive-notes.ts';
import { type ArchivedPage, type ArchiveStores, archivedPages, openReadLimit } from '../receipts/archived-rows.ts';
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

/**
 * All versions of the archived receipts whose newest version fits, in the order of their times; null: with `most`, that are more files than one request
 * reads. Throws if the archive does not answer.
 */
export async function selectArchived(
  stores: ArchiveStores,
  accountId: string,
  { asked, most, period }: Selection,
): Promise<ArchivedRow[] | null> {
  if ((await archivesIn(stores.db, stores.seals, period ?? {})).length === 0) return [];
  const rows: ArchivedRow[] = [];
  let count = 0;
  const pages =
    asked.receipt_ids === undefined
      ? archivedPages(stores, accountId, period ?? noPeriod, 'asc')
      : pagesOf(stores, accountId, asked.receipt_ids);
  const limit = openReadLimit();
  let isEnough = false;
  for await (const { file, rows: found } of pages) {
    // More files would have to be read.
    if (isEnough && most !== null) return null;
    isEnough = limit.add(file);
    for (const versions of byReceipt(found)) {
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
): AsyncGenerator<ArchivedPage> {
  const wanted = new Set(ids);
  let covered = '';
  for (const id of [...wanted].toSorted()) {
    const from = timeOfReceipt(id);
    if (from === null || id <= covered) continue;
    const next = await archivedPages(stores, accountId, { from, to: null }, 'asc').next();
    // No file has this id or one behind it.
    if (next.done === true) return;
    const { file, rows } = next.value;
    covered = file.last_account === accountId ? file.last_id : leastId(nextMonth(file.month));
    yield { file, rows: rows.filter((row) => wanted.has(row.id)) };
  }
}
