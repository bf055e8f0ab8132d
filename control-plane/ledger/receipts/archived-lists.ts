/**
 * Pages of an account's ledger that reach into archived months.
 *
 * Invariant: a page reads a bounded number of files. If they have too few receipts that fit, the page is shorter, and says where to go on.
 */
import { defined } from '@gw/contract/internal/defined';
import type { LedgerQuery } from '@gw/contract/management';
import { type ArchivedRow, type ArchiveFile, fileColumns, linesOf, rowIn } from './archive-files.ts';
import { archivesIn, firstOf, leastId } from './archive-notes.ts';
import { type ArchiveStores, archivedPages, expectNote, openReadLimit } from './archived-rows.ts';
import { timeOfReceipt } from './receipt-id.ts';

export interface ArchivedPart<T> {
  readonly rows: readonly T[];
  /** Up to where it was looked, where there may be more behind it; null: there is none. */
  readonly stoppedAt: ArrivedPlace | null;
}

/** A place in either order; no receipt need be there. */
export type ArrivedPlace = Pick<ArchivedRow, 'arrived' | 'created_at' | 'id' | 'version'>;

const fits = ({ body, model, region }: ArchivedRow, query: LedgerQuery): boolean =>
  (query.model === undefined || query.model === model) &&
  (query.region === undefined || query.region === region) &&
  (query.project === undefined || query.project === (JSON.parse(body) as { project?: unknown }).project);

/** The version of each receipt that counts. */
function countedAmong(rows: readonly ArchivedRow[], version: LedgerQuery['version']): ArchivedRow[] {
  const counted = new Map<string, ArchivedRow>();
  for (const row of rows) {
    const known = counted.get(row.id);
    const isBetter =
      known === undefined || (version === 'issued' ? row.version < known.version : row.version > known.version);
    if (isBetter) counted.set(row.id, row);
  }
  return [...counted.values()];
}

const isNewer = (one: ArchivedRow, other: Pick<ArchivedRow, 'created_at' | 'id'>): boolean =>
  one.created_at > other.created_at || (+one.created_at === +other.created_at && one.id > other.id);

/** The newest calls behind the cursor, at most `most` of them, and none from before `from`. */
export async function archivedCalls(
  stores: ArchiveStores,
  accountId: string,
  query: LedgerQuery,
  { from, most }: { readonly from: Date | null; readonly most: number },
): Promise<ArchivedPart<ArchivedRow>> {
  const cursor = query.after === undefined ? null : timeOfReceipt(query.after);
  const to = cursor === null ? null : new Date(cursor.getTime() + 1);
  const rows: ArchivedRow[] = [];
  const limit = openReadLimit();
  for await (const page of archivedPages(stores, accountId, { from, to }, 'desc')) {
    const behind = countedAmong(page.rows, query.version).filter(
      (row) =>
        cursor === null ||
        query.after === undefined ||
        (!isNewer(row, { created_at: cursor, id: query.after }) && row.id !== query.after),
    );
    rows.push(...behind.filter((row) => fits(row, query)));
    if (rows.length >= most) break;
    if (limit.add(page.file)) return { rows, stoppedAt: beginOf(page.file, accountId) };
  }
  return { rows: rows.slice(0, most), stoppedAt: null };
}

/** The place of the first call that a file can have of an account. */
function beginOf({ first_account, first_id, month }: ArchiveFile, accountId: string): ArrivedPlace {
  const before = new Date(firstOf(month).getTime() - 1);
  const id = first_account === accountId ? first_id : greatestId(leastId(before));
  return { arrived: '', created_at: timeOfReceipt(id) ?? before, id, version: 1 };
}

const greatestId = (begin: string): string => `${begin}-7fff-bfff-ffffffffffff`;

interface Arrival {
  readonly arrived: string;
  readonly id: string;
  readonly version: number;
}

export function inOrderOfArrival(one: Arrival, other: Arrival): number {
  const [a, b] = [BigInt(one.arrived), BigInt(other.arrived)];
  if (a !== b) return a < b ? -1 : 1;
  return one.id === other.id ? one.version - other.version : one.id < other.id ? -1 : 1;
}

/** Files that can have rows at one place of the order of arrival: those with versions that were all made at that time, long afterwards. */
const mostAtOnePlace = 400;

/** A list in an order of arrival cannot go on there, whenever it is asked again. */
export class CrowdedPlaceError extends Error {
  constructor() {
    super(
      `More than ${mostAtOnePlace} files of the archive have receipts at this place of the order of arrival, which no page can read. List by order=desc, or request an evidence pack.`,
    );
  }
}

/** The rows behind a place in the order of arrival. `stored`: those that Postgres has there, so that no more files are read than the page needs. */
export async function archivedArrivals(
  stores: ArchiveStores,
  accountId: string,
  query: LedgerQuery,
  { place, stored }: { readonly place: Arrival | null; readonly stored: readonly Arrival[] },
): Promise<ArchivedPart<ArchivedRow>> {
  const { db, objects, seals } = stores;
  const archives = new Map((await archivesIn(db, seals)).map((archive) => [archive.month, archive]));
  let rows: ArchivedRow[] = [];
  if (archives.size === 0) return { rows, stoppedAt: null };
  const files = await db.$queryRaw<ArchiveFile[]>`
    SELECT ${fileColumns} FROM receipt_archive_files
    WHERE kind = 'rows' AND first_account <= ${accountId} AND last_account >= ${accountId}
      AND (${place?.arrived ?? null}::bigint IS NULL OR last_arrived >= ${place?.arrived ?? null}::bigint)
      AND to_char(month, 'YYYY-MM') = ANY (${[...archives.keys()]})
    ORDER BY receipt_archive_files.first_arrived, receipt_archive_files.month, number LIMIT ${mostAtOnePlace + 1}`;
  const limit = openReadLimit();
  let isEnough = false;
  for (const [at, file] of files.entries()) {
    const isBefore = ({ arrived }: Arrival): boolean => BigInt(arrived) < BigInt(file.first_arrived);
    if ([...rows, ...stored].filter(isBefore).length > query.limit) break;
    if (at === mostAtOnePlace) throw new CrowdedPlaceError();
    // It is not known which rows stand behind this file, so nothing from there on is told. Where no other place would be reached, it is read as well.
    const end = BigInt(file.first_arrived) - 1n;
    if (isEnough && (place === null || end > BigInt(place.arrived)))
      return { rows: rows.filter(isBefore), stoppedAt: endingAt(end, file) };
    expectNote(defined(archives.get(file.month), file.month));
    const own = (await linesOf(objects, file)).map(rowIn).filter((row) => row.account_id === accountId);
    const behind = own.filter((row) => place === null || inOrderOfArrival(row, place) > 0);
    rows = [...rows, ...behind.flatMap((row) => listed(row, own, query))]
      .toSorted(inOrderOfArrival)
      .slice(0, query.limit + 1);
    isEnough = limit.add(file) || isEnough;
  }
  return { rows, stoppedAt: null };
}

/** Behind all rows that arrived then or before. */
const endingAt = (arrived: bigint, { month }: ArchiveFile): ArrivedPlace => ({
  arrived: String(arrived),
  created_at: firstOf(month),
  id: greatestId(leastId(firstOf(month))),
  version: 1,
});

/** Returns the row that is listed in the place of a row, if one is: in the order of first versions the version that counts stands there. */
function listed(row: ArchivedRow, own: readonly ArchivedRow[], query: LedgerQuery): ArchivedRow[] {
  const { order, version } = query;
  if ((order === 'asc' || version === 'issued') && row.version !== 1) return [];
  const isInstead = order === 'asc' && version !== 'issued';
  const shown = isInstead
    ? countedAmong(
        own.filter(({ id }) => id === row.id),
        version,
      )[0]
    : row;
  return shown !== undefined && fits(shown, query) ? [{ ...shown, arrived: row.arrived }] : [];
}
