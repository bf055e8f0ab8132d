/**
 * Receipts of archived months: what Postgres does not have any more is read from the store of objects.
 *
 * Invariant: "not there" is only said of what the archive is known not to have. A store that does not answer, and a file that is not what was written,
 * are exceptions (closed). Whoever reads asks Postgres first: a month that leaves meanwhile is found here then. Rows are given as they were stored, and
 * their seals are checked by whoever serves them, like those of Postgres.
 */
import { Prisma, type Queryable } from '@gw/prisma/client';
import type { ObjectStore } from '../../shared/objects/objects.ts';
import {
  ArchiveBrokenError,
  type ArchivedRow,
  type ArchiveFile,
  fileColumns,
  linesOf,
  rowIn,
} from './archive-files.ts';
import { archivedMonths, archivesIn, firstOf, leastId, nextMonth, type StoredArchive } from './archive-notes.ts';
import { storedEntries } from './batches.ts';
import { timeOfReceipt } from './receipt-id.ts';
import type { Seals } from './sealed-rows.ts';

export interface ArchiveStores {
  readonly db: Queryable;
  readonly objects: ObjectStore;
  readonly seals: Seals;
}

/** It includes `from` and excludes `to`; null: it is open on that side. */
export interface ArchivePeriod {
  readonly from: Date | null;
  readonly to: Date | null;
}

export function expectNote({ month, note }: StoredArchive): void {
  if (note === null) throw new ArchiveBrokenError(month, 'its note is not sealed by the gateway');
}

/** All versions of a receipt that has left Postgres, in their order; none if it is not archived. */
export async function archivedVersions(stores: ArchiveStores, accountId: string, id: string): Promise<ArchivedRow[]> {
  const at = timeOfReceipt(id);
  if (at === null) return [];
  const rows: ArchivedRow[] = [];
  for await (const page of archivedPages(stores, accountId, { from: at, to: new Date(at.getTime() + 1) }, 'asc'))
    rows.push(...page.rows.filter((row) => row.id === id));
  return rows;
}

type Order = 'asc' | 'desc';

/** The rows of an account that a file has. */
export interface ArchivedPage {
  readonly file: ArchiveFile;
  /** None, if the account only has receipts before and behind those of the file. */
  readonly rows: readonly ArchivedRow[];
}

/** One request reads no more, which takes about a second of one core. */
const mostOfRequest = { files: 40, bytes: 64 * 1024 * 1024 };

/** Counts what a request reads. `add` returns whether that is enough. */
export function openReadLimit({ bytes, files } = mostOfRequest) {
  let read = { files: 0, bytes: 0 };
  return {
    add: (file: ArchiveFile): boolean => {
      read = { files: read.files + 1, bytes: read.bytes + file.bytes };
      // A page may begin with the file that the one before has ended with.
      return read.files >= files || (read.bytes >= bytes && read.files > 1);
    },
  };
}

/** The rows of an account in a period, a file at a time, in the order of their times; all versions of a receipt are on one page. */
export async function* archivedPages(
  stores: ArchiveStores,
  accountId: string,
  period: ArchivePeriod,
  order: Order,
): AsyncGenerator<ArchivedPage> {
  const { db, objects, seals } = stores;
  const last = period.to === null ? null : new Date(period.to.getTime() - 1);
  const archives = await archivesIn(db, seals, { from: period.from, to: last });
  for (const archive of order === 'asc' ? archives : archives.toReversed()) {
    expectNote(archive);
    const { month } = archive;
    const from = greater(period.from, firstOf(month));
    const to = less(period.to, nextMonth(month));
    for (let after: number | null = 0; after !== null; ) {
      const file: ArchiveFile | undefined = await nextFile(db, { accountId, after, from, month, order, to });
      after = file?.number ?? null;
      if (file === undefined) continue;
      // A piece of JSON says whose row it is; others are not parsed.
      const own = (await linesOf(objects, file)).filter((line) => line.includes(JSON.stringify(accountId))).map(rowIn);
      const rows = own.filter((row) => row.account_id === accountId && row.created_at >= from && row.created_at < to);
      yield { file, rows: order === 'asc' ? rows : rows.toReversed() };
    }
  }
}

const greater = (one: Date | null, other: Date): Date => (one !== null && one > other ? one : other);
const less = (one: Date | null, other: Date): Date => (one !== null && one < other ? one : other);

async function nextFile(
  db: Queryable,
  {
    accountId,
    after,
    from,
    month,
    order,
    to,
  }: {
    readonly accountId: string;
    readonly after: number;
    readonly from: Date;
    readonly month: string;
    readonly order: Order;
    readonly to: Date;
  },
): Promise<ArchiveFile | undefined> {
  const direction = order === 'asc' ? Prisma.sql`ASC` : Prisma.sql`DESC`;
  const beyond =
    after === 0
      ? Prisma.empty
      : order === 'asc'
        ? Prisma.sql`AND number > ${after}`
        : Prisma.sql`AND number < ${after}`;
  const [file] = await db.$queryRaw<ArchiveFile[]>`
    SELECT ${fileColumns} FROM receipt_archive_files
    WHERE month = ${firstOf(month)}::date AND kind = 'rows' ${beyond}
      AND (last_account, last_id) >= (${accountId}, ${leastId(from)}) AND (first_account, first_id) < (${accountId}, ${leastId(to)})
    ORDER BY number ${direction} LIMIT 1`;
  return file;
}

interface EntryRange {
  readonly from: bigint;
  readonly to: bigint;
  readonly most: number;
}

/** As `storedEntries`, with the rows that are archived. */
export async function ledgerEntries(
  stores: ArchiveStores,
  range: EntryRange,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const stored = await storedEntries(stores.db, range);
  const files = await entryFiles(stores, range);
  return withArchived(stored, files, range, (file) => entryLines(stores.objects, file));
}

/** The files of archived months that have rows of a range. */
export async function entryFiles(
  { db, seals }: Pick<ArchiveStores, 'db' | 'seals'>,
  { from, to }: Pick<EntryRange, 'from' | 'to'>,
): Promise<ArchiveFile[]> {
  const files = await db.$queryRaw<ArchiveFile[]>`
    SELECT ${fileColumns} FROM receipt_archive_files WHERE kind = 'entries' AND last_arrived > ${from} AND first_arrived <= ${to}
    ORDER BY receipt_archive_files.month, number`;
  if (files.length === 0) return files;
  const months = new Set(await archivedMonths(db, seals));
  return files.filter(({ month }) => months.has(month));
}

/** A file that is gone or altered lacks its rows, as if they were deleted; the check of the archive names it. */
export const entryLines = (objects: ObjectStore, file: ArchiveFile): Promise<readonly string[]> =>
  linesOf(objects, file).catch((error: unknown) => {
    if (error instanceof ArchiveBrokenError) return [];
    throw error;
  });

/** Adds the rows that files have to those that Postgres has. */
export async function withArchived(
  stored: ReadonlyMap<string, readonly string[]>,
  files: readonly ArchiveFile[],
  range: EntryRange,
  read: (file: ArchiveFile) => Promise<readonly string[]>,
): Promise<Map<string, readonly string[]>> {
  const entries = new Map(stored);
  for (const [name, lines] of await archivedEntries(files, range, read)) {
    const own = entries.get(name);
    entries.set(name, own === undefined ? lines : [...own, ...lines].toSorted(inOrderOfRows));
  }
  return entries;
}

async function archivedEntries(
  files: readonly ArchiveFile[],
  { from, most, to }: EntryRange,
  read: (file: ArchiveFile) => Promise<readonly string[]>,
): Promise<Map<string, string[]>> {
  const entries = new Map<string, string[]>();
  let count = 0;
  for (const file of files) {
    for (const line of await read(file)) {
      const space = line.indexOf(' ');
      const arrived = BigInt(line.slice(0, space));
      if (arrived <= from || arrived > to || count >= most) continue;
      count += 1;
      const name = `${arrived} added`;
      const own = entries.get(name);
      if (own === undefined) entries.set(name, [line.slice(space + 1)]);
      else own.push(line.slice(space + 1));
    }
  }
  return entries;
}

function inOrderOfRows(one: string, other: string): number {
  const [[id = '', version], [otherId = '', otherVersion]] = [one.split(' '), other.split(' ')];
  return id === otherId ? Number(version) - Number(otherVersion) : id < otherId ? -1 : 1;
}
