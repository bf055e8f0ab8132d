/**
 * Months of receipts that have left Postgres for the store of objects, and what holds the gateway to them.
 *
 * Invariant: a month counts as archived only by its note, which names the digest of its files and is sealed by a key that the database does not hold.
 * Whoever deletes receipts and writes such a note makes none that counts: the receipts stay missing.
 */
import { canonicalText } from '@gw/contract/internal/ledger-entry';
import { Prisma, type Queryable } from '@gw/prisma/client';
import { z } from 'zod';
import type { Seals } from './sealed-rows.ts';

const hash = z.string().regex(/^[0-9a-f]{64}$/);

export const archiveNoteSchema = z.strictObject({
  format: z.literal('gw.archived/1'),
  /** As `2025-01`, UTC. */
  month: z.string(),
  /** Versions of receipts. */
  receipts: z.int(),
  /** How many files there are. */
  files: z.strictObject({ rows: z.int(), entries: z.int() }),
  /** The digest of the list of files (`listedFiles`). */
  files_sha256: hash,
  /** The digest of the newest checkpoints of the accounts of the month. */
  checkpoints_sha256: hash,
  /** The last batch of the ledger when the month left; all rows of the month came in it or before it. */
  chain: z.strictObject({ number: z.int(), head: hash }),
  at: z.iso.datetime(),
});
export type ArchiveNote = z.infer<typeof archiveNoteSchema>;

const storedSchema = archiveNoteSchema.extend({ seal: z.string(), key: z.int() });

export function sealedNote(note: ArchiveNote, seals: Seals): z.infer<typeof storedSchema> {
  const { id, seal } = seals.sealText('gw.archived', canonicalText(note));
  return { ...note, seal, key: id };
}

/** Returns the note that was stored for a month; null: it is none, or nobody with the key has sealed it. */
export function noteIn(stored: unknown, month: string, seals: Seals): ArchiveNote | null {
  const parsed = storedSchema.safeParse(stored);
  if (!parsed.success) return null;
  const { key: id, seal, ...note } = parsed.data;
  if (note.month !== month) return null;
  return seals.textFault('gw.archived', canonicalText(note), { seal, id }) === null ? note : null;
}

/** The name of the month (UTC) of a time. */
export const monthOf = (at: Date): string => at.toISOString().slice(0, 7);

export const firstOf = (month: string): Date => new Date(`${month}-01T00:00:00.000Z`);

export function nextMonth(month: string): Date {
  const first = firstOf(month);
  return new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1));
}

export interface StoredArchive {
  readonly month: string;
  /** Null: it is none that counts. */
  readonly note: ArchiveNote | null;
}

/** The months that have no partition with receipts any more, the oldest first. */
export async function archivesIn(
  db: Queryable,
  seals: Seals,
  { from = null, to = null }: { readonly from?: Date | null; readonly to?: Date | null } = {},
): Promise<StoredArchive[]> {
  const found = await db.$queryRaw<{ month: string; note: unknown }[]>`
    SELECT to_char(month, 'YYYY-MM') AS month, note FROM receipt_archives
    WHERE state IN ('detached', 'dropped')
      AND (${from}::timestamptz IS NULL OR month >= date_trunc('month', ${from}::timestamptz AT TIME ZONE 'UTC')::date)
      AND (${to}::timestamptz IS NULL OR month <= (${to}::timestamptz AT TIME ZONE 'UTC')::date)
    ORDER BY receipt_archives.month`;
  return found.map(({ month, note }) => ({ month, note: noteIn(note, month, seals) }));
}

/** All notes that the gateway has sealed, also of months that are not detached yet. */
export async function sealedNotes(db: Queryable, seals: Seals): Promise<ArchiveNote[]> {
  const found = await db.$queryRaw<{ month: string; note: unknown }[]>`
    SELECT to_char(month, 'YYYY-MM') AS month, note FROM receipt_archives WHERE note IS NOT NULL`;
  return found.flatMap(({ month, note }) => noteIn(note, month, seals) ?? []);
}

/** The months whose notes count. */
export const archivedMonths = async (db: Queryable, seals: Seals): Promise<string[]> =>
  (await archivesIn(db, seals)).flatMap(({ month, note }) => (note === null ? [] : month));

/** The least id that a receipt of that time or later can have; ids are in the order of their times. */
export function leastId(at: Date): string {
  const digits = at.getTime().toString(16).padStart(12, '0');
  return `rcpt_${digits.slice(0, 8)}-${digits.slice(8)}`;
}

/** The condition that the id in a column is of one of these months. */
export const isOfMonth = (column: Prisma.Sql, months: readonly string[]): Prisma.Sql =>
  Prisma.sql`EXISTS (
    SELECT 1 FROM unnest(${months.map((month) => leastId(firstOf(month)))}::text[], ${months.map((month) => leastId(nextMonth(month)))}::text[])
      AS archived (low, high)
    WHERE ${column} COLLATE "C" >= archived.low AND ${column} COLLATE "C" < archived.high)`;
