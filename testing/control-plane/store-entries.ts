/** Stores ledger entries as the ingester does, without a stream. */
import type { LedgerEntry } from '@gw/contract/internal/ledger-entry';
import { CopyLines } from '@gw/control-plane/internals/ledger/receipts/copy-lines';
import { parseEntry, type ReceiptRow } from '@gw/control-plane/internals/ledger/receipts/entry-row';
import type { Seals } from '@gw/control-plane/internals/ledger/receipts/sealed-rows';
import { insertReceipts, readyRow } from '@gw/control-plane/internals/ledger/receipts/store-batch';
import type { Database } from '@gw/prisma/client';

export function rowOfEntry(entry: unknown): ReceiptRow {
  const parsed = parseEntry(JSON.stringify(entry));
  if ('poison' in parsed) throw new Error(parsed.poison);
  return parsed.row;
}

export async function storeEntries(db: Database, entries: readonly LedgerEntry[], seals: Seals): Promise<void> {
  const lines = new CopyLines();
  const rows = entries.map((entry) => readyRow(rowOfEntry(entry), seals, lines));
  await insertReceipts(db, rows, seals, lines);
}
