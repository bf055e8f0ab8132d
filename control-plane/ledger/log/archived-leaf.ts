/**
 * Entries of a log that are no receipts: each says that a month of the account is archived. For whoever has checkpoints and packs alone, they make a
 * month that has left different from one that is missing.
 *
 * Invariant: an account has one for a month. It counts only together with the note of the month that the gateway has sealed (archive-notes.ts), and
 * the note for an account only together with it.
 */
import { hash } from 'node:crypto';
import { jsonIn } from '@gw/contract/internal/json-in';
import { canonicalText } from '@gw/contract/internal/ledger-entry';
import { type ArchivedMonth, archivedFormat, archivedHash, archivedMonthIn } from '@gw/evidence/archived-month';
import { Prisma } from '@gw/prisma/client';
import { type ArchiveNote, isOfMonth } from '../receipts/archive-notes.ts';
import type { Leaf } from './tree.ts';

/** Stands where other entries have the id of a receipt. */
export const archivedName = (month: string): string => `archived:${month}`;

/** The condition that an entry is a receipt, behind the name of the table and a dot. The name is sealed with the entry, its content by the hash. */
export const isReceipt = Prisma.sql`receipt_id NOT LIKE 'archived:%'`;

/** The condition that the receipt of an entry `l` is archived: in one of these months, and the same log tells of it. */
export const isArchived = (months: readonly string[]): Prisma.Sql => Prisma.sql`(
  ${isOfMonth(Prisma.sql`l.receipt_id`, months)} AND EXISTS (
    SELECT 1 FROM receipt_log a
    WHERE a.receipt_id = 'archived:' || to_char(l.created_at AT TIME ZONE 'UTC', 'YYYY-MM') AND a.account_id = l.account_id))`;

/** `receipts`: how many versions the account has in the month. */
export function archivedLeaf(account: string, note: ArchiveNote, receipts: number): Leaf {
  const { at, files_sha256, month } = note;
  const said: ArchivedMonth = {
    format: archivedFormat,
    account,
    month,
    receipts,
    files_sha256,
    note_sha256: digestOf(note),
    at,
  };
  return {
    receiptId: archivedName(month),
    version: 0,
    createdAt: new Date(at),
    hash: archivedHash(said),
    contentSha256: '',
    archived: canonicalText(said),
  };
}

const digestOf = (note: ArchiveNote): string => hash('sha256', canonicalText(note));

export interface StoredEntry {
  readonly receipt_id: string;
  /** Hexadecimal. */
  readonly leaf: string;
  readonly archived: string | null;
}

export const isReceiptEntry = ({ receipt_id }: Pick<StoredEntry, 'receipt_id'>): boolean =>
  !receipt_id.startsWith(archivedName(''));

/** Returns what an entry says; null: its hash is not over that. */
export function archivedOf(accountId: string, { archived, leaf, receipt_id }: StoredEntry): ArchivedMonth | null {
  const said = archived === null ? null : archivedMonthIn(jsonIn(archived));
  const isIt =
    said !== null &&
    said.account === accountId &&
    receipt_id === archivedName(said.month) &&
    archivedHash(said) === leaf;
  return isIt ? said : null;
}

/** Whether an entry tells of the archive that a note is of. */
export function tellsOf(accountId: string, entry: StoredEntry, note: ArchiveNote): boolean {
  const said = archivedOf(accountId, entry);
  return said !== null && said.month === note.month && said.note_sha256 === digestOf(note);
}
