/**
 * The files of an archived month: gzipped lines of JSON. `rows` have the receipts as the ledger had them, in the order of account, time and version;
 * `entries` have the digests of the same rows in the order of arrival, as their batches hold them.
 *
 * Invariant: what is read of a file is what was written: its digest is compared. Few files are in memory at a time, whoever reads.
 */
import { createHash, hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { Prisma, type Queryable } from '@gw/prisma/client';
import { z } from 'zod';
import type { ObjectStore } from '../../shared/objects/objects.ts';
import { firstOf } from './archive-notes.ts';
import { jsonColumns } from './read-rows.ts';
import type { LedgerRow } from './seal.ts';

export type ArchiveFileKind = 'entries' | 'rows';

export interface ArchiveFile {
  readonly month: string;
  readonly kind: ArchiveFileKind;
  readonly number: number;
  readonly sha256: string;
  readonly bytes: number;
  readonly count: number;
  readonly first_account: string;
  readonly first_id: string;
  readonly last_account: string;
  readonly last_id: string;
  readonly last_version: number;
  readonly first_arrived: string;
  readonly last_arrived: string;
}

export const fileColumns = Prisma.sql`to_char(month, 'YYYY-MM') AS month, kind, number, sha256, bytes, count, first_account, first_id, last_account, last_id,
  last_version, first_arrived::text AS first_arrived, last_arrived::text AS last_arrived`;

/** The names of all objects of a month begin with it. */
const folderOf = (month: string): string => `receipts/${month}`;

/** The objects of a month beside its receipts. */
export const looseName = (month: string, file: 'checkpoints.jsonl' | 'files.txt' | 'note.json'): string =>
  `${folderOf(month)}/${file}`;

/** A part of facts, which receipts of any month may name. */
export const partName = (sha256: string): string => `facts/${sha256}.json`;

export const objectName = ({ kind, month, number }: Pick<ArchiveFile, 'kind' | 'month' | 'number'>): string =>
  `${folderOf(month)}/${kind}-${String(number).padStart(7, '0')}.jsonl.gz`;

/** A file, or the note of its month, is not what was archived. */
export class ArchiveBrokenError extends Error {
  readonly fault: string;

  constructor(month: string, fault: string) {
    super(`The archive of ${month} is not what was written: ${fault}`);
    this.fault = fault;
  }
}

const zip = promisify(gzip);
const unzip = promisify(gunzip);
const mostUnzipped = 256 * 1024 * 1024;
const readersAtOnce = 4;

/** Stands for the places that readers take. */
const waiting: (() => void)[] = [];
let readers = 0;

async function inTurn<T>(read: () => Promise<T>): Promise<T> {
  if (readers >= readersAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  else readers += 1;
  try {
    return await read();
  } finally {
    const next = waiting.shift();
    if (next === undefined) readers -= 1;
    else next();
  }
}

/** The same lines give the same bytes. */
export const fileOf = (lines: readonly string[]): Promise<Buffer> => zip(`${lines.join('\n')}\n`, { level: 6 });

export const bytesDigest = (bytes: Buffer): string => hash('sha256', bytes);

/** Throws ArchiveBrokenError if it is not what was written, and ObjectsUnavailableError if the store does not answer. */
export const linesOf = (objects: ObjectStore, file: ArchiveFile): Promise<string[]> =>
  inTurn(async () => {
    const bytes = await objects.get(objectName(file));
    if (bytes === null) throw new ArchiveBrokenError(file.month, 'missing');
    if (bytesDigest(bytes) !== file.sha256) throw new ArchiveBrokenError(file.month, 'altered');
    const text = (await unzip(bytes, { maxOutputLength: mostUnzipped })).toString();
    return text.slice(0, -1).split('\n');
  });

/** Returns the line of a file in the list that the note of its month has the digest of. */
export const listedFile = (file: ArchiveFile): string =>
  [
    ...[file.kind, file.number, file.sha256, file.bytes, file.count, file.first_account, file.first_id],
    ...[file.last_account, file.last_id, file.last_version, file.first_arrived, file.last_arrived],
  ].join(' ');

const filesAtOnce = 5000;

/** The list of the files of a month, piece by piece. */
export async function* listedFiles(db: Queryable, month: string): AsyncGenerator<string> {
  for (let after: Pick<ArchiveFile, 'kind' | 'number'> | null = { kind: 'entries', number: 0 }; after !== null; ) {
    const { kind, number }: Pick<ArchiveFile, 'kind' | 'number'> = after;
    const page: ArchiveFile[] = await db.$queryRaw<ArchiveFile[]>`
      SELECT ${fileColumns} FROM receipt_archive_files WHERE month = ${firstOf(month)}::date AND (kind, number) > (${kind}, ${number})
      ORDER BY kind, number LIMIT ${filesAtOnce}`;
    if (page.length > 0) yield `${page.map(listedFile).join('\n')}\n`;
    after = page.length < filesAtOnce ? null : (page.at(-1) ?? null);
  }
}

/** The digest of that list, which the note has. */
export async function listDigest(db: Queryable, month: string): Promise<string> {
  const digest = createHash('sha256');
  for await (const piece of listedFiles(db, month)) digest.update(piece);
  return digest.digest('hex');
}

/** A row of the ledger, as a file has it; its texts are strings. */
export interface ArchivedRow extends LedgerRow {
  readonly arrived: string;
}

const rowSchema = z.strictObject({
  ...jsonColumns,
  created_at: z.iso.datetime().transform((text) => new Date(text)),
  body: z.string(),
  routing_trace: z.string().nullable(),
  facts: z.string().nullable(),
  shown: z.boolean(),
  arrived: z.string().regex(/^-?\d{1,19}$/),
});

export const rowLine = ({ compressed: _, unreadable: __, ...stored }: ArchivedRow): string => JSON.stringify(stored);

export const rowIn = (line: string): ArchivedRow => ({ ...rowSchema.parse(JSON.parse(line)), compressed: null });
