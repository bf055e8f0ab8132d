/**
 * Stores the files of a month one by one.
 *
 * Invariant: a file is stored, read back and compared before it is entered, so a next try goes on behind the last one that is entered.
 */
import type { Queryable } from '@gw/prisma/client';
import { type ObjectStore, ObjectsUnavailableError } from '../../shared/objects/objects.ts';
import {
  type ArchiveFile,
  type ArchiveFileKind,
  bytesDigest,
  fileColumns,
  fileOf,
  objectName,
} from '../receipts/archive-files.ts';
import { firstOf } from '../receipts/archive-notes.ts';
import type { ArchiveStores } from '../receipts/archived-rows.ts';

/** Why a month cannot leave now. It is shown to operators. */
export class ArchiveHeldUpError extends Error {}

export interface MonthOptions extends ArchiveStores {
  readonly month: string;
  /** Called between files; rejects if somebody else has the month now. */
  readonly goOn: () => Promise<void>;
}

export async function lastFile(db: Queryable, month: string, kind: ArchiveFileKind): Promise<ArchiveFile | null> {
  const [file] = await db.$queryRaw<ArchiveFile[]>`
    SELECT ${fileColumns} FROM receipt_archive_files WHERE month = ${firstOf(month)}::date AND kind = ${kind}
    ORDER BY number DESC LIMIT 1`;
  return file ?? null;
}

export async function storeFile(
  { db, goOn, objects }: MonthOptions,
  lines: readonly string[],
  about: Omit<ArchiveFile, 'bytes' | 'sha256'>,
): Promise<void> {
  const bytes = await fileOf(lines);
  const sha256 = bytesDigest(bytes);
  await storeObject(objects, objectName(about), bytes);
  await goOn();
  const row = JSON.stringify({ ...about, month: `${about.month}-01`, bytes: bytes.length, sha256 });
  await db.$executeRaw`
    INSERT INTO receipt_archive_files (month, kind, number, sha256, bytes, count, first_account, first_id, last_account, last_id, last_version,
      first_arrived, last_arrived)
    SELECT month, kind, number, sha256, bytes, count, first_account, first_id, last_account, last_id, last_version, first_arrived, last_arrived
    FROM json_populate_record(NULL::receipt_archive_files, ${row}::json) ON CONFLICT (month, kind, number) DO NOTHING`;
}

/** Stores an object, and reads it back. One that is there already stays: an earlier try has stored it, and a store may refuse to exchange it. */
export async function storeObject(objects: ObjectStore, name: string, bytes: Buffer): Promise<void> {
  // Before its first object a directory need not be there, and cannot be read; a store that is away cannot be written either.
  if ((await objects.get(name).catch(() => null))?.equals(bytes)) return;
  await objects.put(name, bytes);
  const read = await objects.get(name);
  if (read === null || !read.equals(bytes)) throw new ObjectsUnavailableError(`${objects.place} did not keep ${name}.`);
}
