/**
 * The content of an entry of the log that is no receipt: a month of the account has left Postgres for an archive, on purpose and with these files.
 *
 * Invariant: no receipt can be taken for one, nor one for a receipt: a receipt has a member `object`, and this has no members but its own.
 */
import { canonicalText } from './canonical.ts';
import { isHash, leafHash } from './merkle.ts';
import { isNode } from './receipt-node.ts';

export const archivedFormat = 'gw.archived_month/1';

export interface ArchivedMonth {
  readonly format: typeof archivedFormat;
  readonly account: string;
  /** As `2025-01`, UTC. */
  readonly month: string;
  /** Versions of receipts that the account has in the month. */
  readonly receipts: number;
  /** The digest of `files.txt` of the archive, which lists its files with their digests. */
  readonly files_sha256: string;
  /** The digest of the archive's note without its signature, as JSON by RFC 8785. */
  readonly note_sha256: string;
  /** When the note was written; RFC 3339, UTC. */
  readonly at: string;
}

/** Null: the value is none in a form that this program knows. */
export function archivedMonthIn(value: unknown): ArchivedMonth | null {
  if (!isNode(value)) return null;
  const { account, at, files_sha256, format, month, note_sha256, receipts, ...others } = value;
  const isOne =
    format === archivedFormat &&
    typeof account === 'string' &&
    typeof month === 'string' &&
    /^\d{4}-(?:0[1-9]|1[0-2])$/.test(month) &&
    Number.isSafeInteger(receipts) &&
    Number(receipts) >= 0 &&
    isHash(files_sha256) &&
    isHash(note_sha256) &&
    typeof at === 'string' &&
    Object.keys(others).length === 0;
  return isOne ? (value as unknown as ArchivedMonth) : null;
}

/** The hash of its entry. */
export const archivedHash = (archived: ArchivedMonth): string => leafHash(canonicalText(archived));
