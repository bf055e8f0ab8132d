/**
 * Checks the archive against its notes: that each month has one that is sealed, that the list of its files is the one that the note names, and that
 * each object of it is in the store as it was written: the files, the list, the checkpoints, the note, and the parts of facts that receipts name; and
 * that the log of each account tells of it.
 * Whether the files have all receipts, the batches tell, which are compared with them (check-batches.ts).
 */
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import { jsonIn } from '@gw/contract/internal/json-in';
import { canonicalText } from '@gw/contract/internal/ledger-entry';
import { checkSignature } from '@gw/evidence/signature';
import type { Trust } from '@gw/evidence/verify';
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import { z } from 'zod';
import type { ObjectStore } from '../../shared/objects/objects.ts';
import { type Fault, noteFaults } from '../integrity/faults.ts';
import { goRound, type RoundPace, type RoundPage, type RoundPlace } from '../integrity/rounds.ts';
import { archivedName, type StoredEntry, tellsOf } from '../log/archived-leaf.ts';
import { trustIn } from '../log/sign.ts';
import {
  ArchiveBrokenError,
  type ArchiveFile,
  bytesDigest,
  fileColumns,
  linesOf,
  listDigest,
  looseName,
  objectName,
  partName,
  rowIn,
} from '../receipts/archive-files.ts';
import {
  type ArchiveNote,
  archiveNoteSchema,
  archivesIn,
  firstOf,
  type StoredArchive,
} from '../receipts/archive-notes.ts';
import { partsNamed } from '../receipts/facts-parts.ts';
import { parsedColumn } from '../receipts/seal.ts';
import type { Seals } from '../receipts/sealed-rows.ts';

export interface ArchiveCheckOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly objects: ObjectStore;
  readonly seals: Seals;
  readonly key: SigningKey;
}

/** The round through all months. The next one begins `fullS` after its end. It stands still while the store does not answer. */
export async function checkArchive(options: ArchiveCheckOptions & RoundPace): Promise<void> {
  const parts: KnownParts = new Map();
  await goRound({ ...options, kind: 'archive' }, (place) => checkPage(options, place, parts));
}

/** The faults of parts that were read already, by their digests: many receipts name the same part. */
type KnownParts = Map<string, Fault | null>;

const mostParts = 50_000;

/** A place is a month, or a month, the kind of a file, and its number. */
async function checkPage(
  options: ArchiveCheckOptions,
  { id, version }: RoundPlace,
  parts: KnownParts,
): Promise<RoundPage> {
  const { db, log } = options;
  const [month = '', kind = ''] = /^\d{4}-\d{2}(?: \w+)?$/.test(id) ? id.split(' ') : [];
  const file = month === '' ? undefined : await fileBehind(db, month, kind, version);
  if (file !== undefined) {
    await noteFaults({ db, log }, 'archive', await faultsOf(options, file, parts));
    return { checked: file.count, next: { id: `${month} ${file.kind}`, version: file.number } };
  }
  const archive = (await archivesIn(db, options.seals)).find((each) => each.month > month);
  if (archive === undefined) return { checked: 0, next: null };
  await noteFaults({ db, log }, 'archive', await faultsOfMonth(options, archive));
  return { checked: 0, next: { id: archive.month, version: 0 } };
}

const numberOf = (month: string): number => Number(month.replace('-', ''));

async function fileBehind(db: Database, month: string, kind: string, number: number): Promise<ArchiveFile | undefined> {
  const [file] = await db.$queryRaw<ArchiveFile[]>`
    SELECT ${fileColumns} FROM receipt_archive_files WHERE month = ${firstOf(month)}::date AND (kind, number) > (${kind}, ${number})
    ORDER BY kind, number LIMIT 1`;
  return file;
}

async function faultsOf(
  { objects }: ArchiveCheckOptions,
  file: ArchiveFile,
  parts: KnownParts,
): Promise<readonly Fault[]> {
  try {
    const lines = await linesOf(objects, file);
    return file.kind === 'rows' ? await faultsOfParts(objects, partsIn(file, lines), parts) : [];
  } catch (error) {
    if (!(error instanceof ArchiveBrokenError)) throw error;
    return [{ name: objectName(file), number: numberOf(file.month), fault: error.fault }];
  }
}

/** Somebody with the database and the store can have written anything there. */
function partsIn({ month }: ArchiveFile, lines: readonly string[]): ReadonlySet<string> {
  try {
    const named = lines.flatMap((line) => partsNamed(parsedColumn(rowIn(line).facts)));
    return new Set(named.map(([, sha256]) => z.hash('sha256').parse(sha256)));
  } catch {
    throw new ArchiveBrokenError(month, 'altered');
  }
}

async function faultsOfParts(
  objects: ObjectStore,
  named: ReadonlySet<string>,
  checked: KnownParts,
): Promise<readonly Fault[]> {
  if (checked.size > mostParts) checked.clear();
  const faults: Fault[] = [];
  for (const sha256 of named) {
    let fault = checked.get(sha256);
    if (fault === undefined) {
      fault = faultIn(partName(sha256), 0, sha256, await objects.get(partName(sha256)));
      checked.set(sha256, fault);
    }
    if (fault !== null) faults.push(fault);
  }
  return faults;
}

function faultIn(name: string, number: number, sha256: string, bytes: Buffer | null): Fault | null {
  if (bytes === null) return { name, number, fault: 'missing' };
  return bytesDigest(bytes) === sha256 ? null : { name, number, fault: 'altered' };
}

async function faultsOfMonth(
  { db, key, objects }: ArchiveCheckOptions,
  { month, note }: StoredArchive,
): Promise<readonly Fault[]> {
  const number = numberOf(month);
  if (note === null) return [{ name: month, number, fault: 'its note is not sealed by the gateway' }];
  const faults: (Fault | null)[] = [];
  if ((await listDigest(db, month)) !== note.files_sha256)
    faults.push({ name: month, number, fault: 'the list of its files is not the one that was sealed' });
  const list = looseName(month, 'files.txt');
  faults.push(faultIn(list, number, note.files_sha256, await objects.get(list)));
  const signed = looseName(month, 'checkpoints.jsonl');
  const checkpoints = await objects.get(signed);
  const altered = faultIn(signed, number, note.checkpoints_sha256, checkpoints);
  faults.push(...(altered !== null || checkpoints === null ? [altered] : await faultsOfLogs(db, note, checkpoints)));
  const name = looseName(month, 'note.json');
  const fault = await faultOfNote(await objects.get(name), note, trustIn(key));
  return [...faults, fault === null ? null : { name, number, fault }].filter((each) => each !== null);
}

/** Each account with receipts in the month has a log that tells of this archive. */
async function faultsOfLogs(db: Database, note: ArchiveNote, checkpoints: Buffer): Promise<Fault[]> {
  const accounts = checkpoints
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => accountSchema.parse(JSON.parse(line)).account);
  const rows = await db.$queryRaw<(StoredEntry & { account_id: string })[]>`
    SELECT account_id, receipt_id, encode(leaf_hash, 'hex') AS leaf, archived FROM receipt_log
    WHERE receipt_id = ${archivedName(note.month)} AND account_id = ANY (${accounts})`;
  const told = new Set(rows.flatMap((row) => (tellsOf(row.account_id, row, note) ? row.account_id : [])));
  return accounts
    .filter((account) => !told.has(account))
    .map((name) => ({ name, number: numberOf(note.month), fault: 'its log does not tell of the archive' }));
}

const accountSchema = z.looseObject({ account: z.string() });

const statedSchema = archiveNoteSchema.extend({ signature: z.unknown() });

/** The note that stands beside the files says what the sealed one says, and the gateway has signed it. */
async function faultOfNote(bytes: Buffer | null, note: ArchiveNote, trust: Trust): Promise<string | null> {
  if (bytes === null) return 'missing';
  const read = statedSchema.safeParse(jsonIn(bytes.toString()));
  if (!read.success) return 'altered';
  const { signature, ...stated } = read.data;
  const check = await checkSignature(stated, signature, trust);
  if (canonicalText(stated) !== canonicalText(note) || check === 'invalid') return 'altered';
  return check === 'trusted' ? null : 'signed by an unknown key';
}
