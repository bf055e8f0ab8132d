/**
 * Checks the archive against its notes: that each month has one that is sealed, that the list of its files is the one that the note names, and that
 * each file is in the store as it was written. That the files have all receipts the batches tell, which are compared with them (check-batches.ts).
 */
import { createHash } from 'node:crypto';
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import type { ObjectStore } from '../../shared/objects/objects.ts';
import { type Fault, noteFaults } from '../integrity/faults.ts';
import { goRound, type RoundPage, type RoundPlace } from '../integrity/rounds.ts';
import {
  ArchiveBrokenError,
  type ArchiveFile,
  fileColumns,
  linesOf,
  listedFiles,
  objectName,
} from '../receipts/archive-files.ts';
import { archivesIn, firstOf, type StoredArchive } from '../receipts/archive-notes.ts';
import type { Seals } from '../receipts/sealed-rows.ts';

export interface ArchiveCheckOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly objects: ObjectStore;
  readonly seals: Seals;
}

/** The round through all months. The next one begins `fullS` after its end. It stands still while the store does not answer. */
export async function checkArchive(
  options: ArchiveCheckOptions & { readonly fullS: number; readonly signal: AbortSignal },
): Promise<void> {
  await goRound({ ...options, kind: 'archive' }, (place) => checkPage(options, place));
}

/** A place is a month, or a month, the kind of a file, and its number. */
async function checkPage(options: ArchiveCheckOptions, { id, version }: RoundPlace): Promise<RoundPage> {
  const { db, log } = options;
  const [month = '', kind = ''] = /^\d{4}-\d{2}(?: \w+)?$/.test(id) ? id.split(' ') : [];
  const file = month === '' ? undefined : await fileBehind(db, month, kind, version);
  if (file !== undefined) {
    await noteFaults({ db, log }, 'archive', await faultsOf(options, file));
    return { checked: file.count, next: { id: `${month} ${file.kind}`, version: file.number } };
  }
  const archive = (await archivesIn(db, options.seals)).find((each) => each.month > month);
  if (archive === undefined) return { checked: 0, next: null };
  const fault = await faultOfMonth(options, archive);
  const faults = fault === null ? [] : [{ name: archive.month, number: numberOf(archive.month), fault }];
  await noteFaults({ db, log }, 'archive', faults);
  return { checked: 0, next: { id: archive.month, version: 0 } };
}

const numberOf = (month: string): number => Number(month.replace('-', ''));

async function fileBehind(db: Database, month: string, kind: string, number: number): Promise<ArchiveFile | undefined> {
  const [file] = await db.$queryRaw<ArchiveFile[]>`
    SELECT ${fileColumns} FROM receipt_archive_files WHERE month = ${firstOf(month)}::date AND (kind, number) > (${kind}, ${number})
    ORDER BY kind, number LIMIT 1`;
  return file;
}

async function faultsOf({ objects }: ArchiveCheckOptions, file: ArchiveFile): Promise<Fault[]> {
  try {
    await linesOf(objects, file);
    return [];
  } catch (error) {
    if (!(error instanceof ArchiveBrokenError)) throw error;
    return [{ name: objectName(file), number: numberOf(file.month), fault: error.fault }];
  }
}

async function faultOfMonth({ db }: ArchiveCheckOptions, { month, note }: StoredArchive): Promise<string | null> {
  if (note === null) return 'its note is not sealed by the gateway';
  const digest = createHash('sha256');
  for await (const piece of listedFiles(db, month)) digest.update(piece);
  return digest.digest('hex') === note.files_sha256 ? null : 'the list of its files is not the one that was sealed';
}
