/** Stores ledger entries as the ingester does, without a stream. */
import { CopyLines } from '@gw/control-plane/internals/ledger/receipts/copy-lines';
import { type CameRow, parseEntry, type ReceiptRow } from '@gw/control-plane/internals/ledger/receipts/entry-row';
import type { Seals } from '@gw/control-plane/internals/ledger/receipts/sealed-rows';
import { insertReceipts, readyRow } from '@gw/control-plane/internals/ledger/receipts/store-batch';
import type { Database } from '@gw/prisma/client';
import { type LedgerEntry, sealedEntry } from '../ledger-entry.ts';
import { testEntries } from './fixtures.ts';

function came(entry: LedgerEntry): CameRow {
  const parsed = parseEntry(sealedEntry(entry), testEntries);
  if ('poison' in parsed) throw new Error(parsed.poison.reason);
  return parsed;
}

export const rowOfEntry = (entry: LedgerEntry): ReceiptRow => came(entry).row;

export async function storeEntries(db: Database, entries: readonly LedgerEntry[], seals: Seals): Promise<void> {
  const lines = new CopyLines();
  const rows = entries.map((entry) => readyRow(came(entry), seals, lines));
  await insertReceipts(db, rows, seals, lines);
}
