/** Checks entries of logs that are no receipts: that they say what they said, and that there is an archive of the month which the gateway has sealed. */
import type { Queryable } from '@gw/prisma/client';
import { archivedOf, isReceiptEntry, type StoredEntry, tellsOf } from '../log/archived-leaf.ts';
import { sealedNotes } from '../receipts/archive-notes.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import type { Fault } from './faults.ts';

export async function archivedFaults(
  { db, seals }: { readonly db: Queryable; readonly seals: Seals },
  accountId: string,
  entries: readonly (StoredEntry & { readonly index: number })[],
): Promise<Pick<Fault, 'fault' | 'number'>[]> {
  const months = entries.filter((entry) => !isReceiptEntry(entry));
  if (months.length === 0) return [];
  const notes = await sealedNotes(db, seals);
  return months.flatMap((entry) => {
    if (archivedOf(accountId, entry) === null) return [{ number: entry.index, fault: 'altered' }];
    const isOfOne = notes.some((note) => tellsOf(accountId, entry, note));
    return isOfOne ? [] : [{ number: entry.index, fault: 'without its archive' }];
  });
}
