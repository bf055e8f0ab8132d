/**
 * The ledger of an account, page by page: by the time of the calls, newest first, or as receipts and their versions arrived, so that whoever
 * reads on from the last row misses none. A call that was running meanwhile arrives behind those that began later and were over before.
 *
 * Invariant: what is listed is genuine. A receipt that is not is named in its place, so that it hides no other one, and its newest genuine
 * version stands there.
 */
import { dayMs } from '@gw/contract/internal/durations';
import type { CountedVersion, LedgerQuery } from '@gw/contract/management';
import { Prisma } from '@gw/prisma/client';
import type { Context } from '../../shared/context.ts';
import {
  type ArchivedPart,
  type ArrivedPlace,
  archivedArrivals,
  archivedCalls,
  inOrderOfArrival,
} from './archived-lists.ts';
import { type ArchiveStores, archivedVersions } from './archived-rows.ts';
import { genuineBefore } from './older-version.ts';
import { readRows, storedColumns } from './read-rows.ts';
import { timeOfReceipt } from './receipt-id.ts';
import type { LedgerRow } from './seal.ts';
import type { Seals } from './sealed-rows.ts';

export interface LedgerPage {
  readonly rows: readonly { readonly id: string; readonly json: string }[];
  readonly hasMore: boolean;
  /** Rows of this page that are not what the gateway has stored. */
  readonly altered: readonly { readonly id: string; readonly version: number }[];
  /** The cursors of the first and last row of the page, altered ones included; null if the page is empty. */
  readonly firstId: string | null;
  readonly lastId: string | null;
}

interface ListedRow extends LedgerRow {
  readonly arrived: string;
}

/** Returns one page. The cursor is a place in the order, so rows that arrive meanwhile do not shift the pages. */
export async function ledgerPage(
  stores: Pick<Context, 'db' | 'objects'> & { readonly seals: Seals },
  accountId: string,
  query: LedgerQuery,
): Promise<LedgerPage> {
  const { db, seals } = stores;
  let rows: ListedRow[] = [];
  let stoppedAt: ArrivedPlace | null = null;
  if (query.order === 'desc') {
    for (const window of windowsBefore(query.after)) {
      rows.push(...(await newestCalls(db, accountId, query, window, query.limit + 1 - rows.length)));
      if (rows.length > query.limit) break;
    }
    const from = rows.length > query.limit ? (rows.at(-1)?.created_at ?? null) : null;
    const archived = await archivedCalls(stores, accountId, query, { from, most: query.limit + 1 });
    rows = together(
      rows,
      archived,
      (one, other) => +other.created_at - +one.created_at || (one.id < other.id ? 1 : -1),
    );
    ({ stoppedAt } = archived);
  } else {
    const place = await placeOf(stores, accountId, query);
    if (place !== 'not yet') {
      rows.push(...(await arrivals(db, accountId, query, place)));
      const archived = await archivedArrivals(stores, accountId, query, { place, stored: rows });
      rows = together(rows, archived, inOrderOfArrival);
      ({ stoppedAt } = archived);
    }
  }
  const page = rows.slice(0, query.limit);
  const faults = await seals.check(page);
  // In the order of arrival each version has its own place.
  const isInstead = query.order !== 'arrival' && query.version !== 'issued';
  const listed: { readonly id: string; readonly json: string }[] = [];
  for (const [at, row] of page.entries()) {
    const shown = faults[at] === null ? row : isInstead ? (await genuineBefore({ db, seals }, row))?.row : undefined;
    if (shown !== undefined) listed.push({ id: row.id, json: shown.body });
  }
  const cursorOf = query.order === 'arrival' ? arrivalCursor : ({ id }: ListedRow) => id;
  const [first, last] = [page[0], page.at(-1)];
  const stopped = rows.length > query.limit ? null : stoppedAt;
  return {
    rows: listed,
    altered: page.flatMap(({ id, version }, at) => (faults[at] === null ? [] : { id, version })),
    hasMore: rows.length > query.limit || stoppedAt !== null,
    firstId: first === undefined ? null : cursorOf(first),
    lastId: stopped !== null ? placeCursor(stopped, query) : last === undefined ? null : cursorOf(last),
  };
}

/** Joins the rows that Postgres has and those that are archived, in one order. A month that left while the page was read is in both. */
function together(
  stored: readonly ListedRow[],
  { rows, stoppedAt }: ArchivedPart<ListedRow>,
  order: (one: ArrivedPlace, other: ArrivedPlace) => number,
): ListedRow[] {
  if (rows.length === 0 && stoppedAt === null) return [...stored];
  const nameOf = ({ id, version }: ListedRow): string => `${id} ${version}`;
  const known = new Map([...rows, ...stored].map((row) => [nameOf(row), row]));
  // Rows behind the last one that was looked at come on a later page.
  return [...known.values()].filter((row) => stoppedAt === null || order(row, stoppedAt) <= 0).toSorted(order);
}

/** A row's place in the order of arrival. Ids of one transaction are in the order of their calls. */
interface ArrivalPlace {
  readonly arrived: string;
  readonly id: string;
  readonly version: number;
}

const arrivalCursor = ({ arrived, id, version }: ArrivalPlace): string => `${arrived}-${version}-${id}`;
const arrivalPattern = /^(\d{1,18})-(\d{1,9})-(rcpt_.+)$/;

/** Returns null if `text` is no cursor of this order. */
function cursorPlace(text: string): ArrivalPlace | null {
  const [, arrived, version, id] = arrivalPattern.exec(text) ?? [];
  if (arrived === undefined || id === undefined || timeOfReceipt(id) === null) return null;
  return { arrived, id, version: Number(version) };
}

/** In the order of calls an id has the time of its call; in the others only a receipt that is there has a place. */
const placeCursor = (place: ArrivedPlace, { order }: LedgerQuery): string =>
  order === 'desc' ? place.id : arrivalCursor(place);

/** Whether `after` can be a cursor of this order. */
export const isCursor = ({ after, order }: Pick<LedgerQuery, 'after' | 'order'>): boolean =>
  after === undefined || timeOfReceipt(after) !== null || (order !== 'desc' && cursorPlace(after) !== null);

/** Nothing stands behind a receipt that is `not yet` in the ledger. Without a cursor the place is null. */
async function placeOf(
  stores: ArchiveStores,
  accountId: string,
  { after }: Pick<LedgerQuery, 'after'>,
): Promise<ArrivalPlace | null | 'not yet'> {
  if (after === undefined) return null;
  const place = cursorPlace(after);
  if (place !== null) return place;
  const [row] = await stores.db.$queryRaw<{ arrived: string }[]>`
    SELECT r.arrived::text AS arrived FROM receipts r
    WHERE r.id = ${after} AND r.created_at = ${timeOfReceipt(after)} AND r.account_id = ${accountId} AND r.version = 1`;
  const first = row ?? (await archivedVersions(stores, accountId, after)).find(({ version }) => version === 1);
  return first === undefined ? 'not yet' : { arrived: first.arrived, id: after, version: 1 };
}

/**
 * The rows behind a place in the order of arrival: each version once, or each receipt once, in the place of its first version. It stops in front of
 * transactions that are still running, since what they write may belong before what is visible already.
 */
async function arrivals(
  db: Context['db'],
  accountId: string,
  query: LedgerQuery,
  place: ArrivalPlace | null,
): Promise<ListedRow[]> {
  const { limit, order, version } = query;
  // In a statement of its own: only a later one is certain to see everything in front of it.
  const [end] = await db.$queryRaw<{ settled: string }[]>`SELECT settled_arrival()::text AS settled`;
  const conditions = [Prisma.sql`a.account_id = ${accountId}`, Prisma.sql`a.arrived < ${end?.settled}::bigint`];
  if (order === 'asc' || version === 'issued') conditions.push(Prisma.sql`a.version = 1`);
  if (place !== null) {
    const arrived = Prisma.sql`${place.arrived}::bigint`;
    conditions.push(Prisma.sql`(a.arrived, a.id, a.version) > (${arrived}, ${place.id}, ${place.version})`);
    // This alone lets Postgres use the index.
    conditions.push(Prisma.sql`a.arrived >= ${arrived}`);
  }
  const listed =
    order === 'asc' && version !== 'issued'
      ? Prisma.sql`SELECT * FROM receipts r WHERE r.id = a.id AND r.created_at = a.created_at ORDER BY r.version DESC LIMIT 1`
      : Prisma.sql`SELECT a.*`;
  return readRows(
    db,
    Prisma.sql`
    SELECT ${storedColumns}, a.arrived::text AS arrived FROM receipts a CROSS JOIN LATERAL (${listed}) r
    WHERE ${Prisma.join([...conditions, ...filtersOf(query)], ' AND ')}
    ORDER BY a.arrived, a.id, a.version
    LIMIT ${limit + 1}`,
  );
}

/** It includes `from` and excludes `to`; null: it is open on that side. */
interface Window {
  readonly from: Date | null;
  readonly to: Date | null;
}

/** How much of the time of the ledger a page is looked for in first. */
const nearMs = 62 * dayMs;

/**
 * Two windows that follow each other in the order of the page: a question that names no time is planned for, and asked of, each month
 * that there is.
 */
function windowsBefore(after: string | undefined): readonly Window[] {
  const begin = (after === undefined ? null : timeOfReceipt(after)) ?? new Date();
  const near = new Date(begin.getTime() - nearMs);
  return [
    { from: near, to: null },
    { from: null, to: near },
  ];
}

const filtersOf = ({ model, project, region }: LedgerQuery): Prisma.Sql[] => [
  ...(model === undefined ? [] : [Prisma.sql`r.model = ${model}`]),
  ...(region === undefined ? [] : [Prisma.sql`r.region = ${region}`]),
  ...(project === undefined ? [] : [Prisma.sql`r.body ->> 'project' = ${project}`]),
];

function newestCalls(
  db: Context['db'],
  accountId: string,
  query: LedgerQuery,
  window: Window,
  limit: number,
): Promise<ListedRow[]> {
  const { after, version } = query;
  const conditions = [Prisma.sql`r.account_id = ${accountId}`, ...within('r', window), ...filtersOf(query)];
  const cursorTime = after === undefined ? null : timeOfReceipt(after);
  if (cursorTime !== null) {
    conditions.push(Prisma.sql`(r.created_at, r.id) < (${cursorTime}::timestamptz, ${after})`);
    // The time alone tells Postgres which months to look in.
    conditions.push(Prisma.sql`r.created_at <= ${cursorTime}::timestamptz`);
  }
  return readRows(
    db,
    Prisma.sql`
    SELECT ${storedColumns}, r.arrived::text AS arrived FROM receipts r
    WHERE ${Prisma.join(conditions, ' AND ')} AND ${counted(version, within('n', window))}
    ORDER BY r.created_at DESC, r.id DESC
    LIMIT ${limit}`,
  );
}

/** Said of both, since the database does not infer it of the one from the other. */
function within(table: 'r' | 'n', { from, to }: Window): Prisma.Sql[] {
  const column = Prisma.raw(`${table}.created_at`);
  return [
    ...(from === null ? [] : [Prisma.sql`${column} >= ${from}::timestamptz`]),
    ...(to === null ? [] : [Prisma.sql`${column} < ${to}::timestamptz`]),
  ];
}

/** The condition, in a query over `receipts r`, for the version of each receipt that counts. */
export const counted = (version: CountedVersion, ofNewer: readonly Prisma.Sql[] = []): Prisma.Sql =>
  version === 'issued' ? Prisma.sql`r.version = 1` : newestAmong(ofNewer);

/** `ofNewer`: what is known of `n`, a newer version of the same moment. */
const newestAmong = (ofNewer: readonly Prisma.Sql[]): Prisma.Sql => Prisma.sql`NOT EXISTS (
  SELECT 1 FROM receipts n WHERE ${Prisma.join(
    [Prisma.sql`n.id = r.id AND n.created_at = r.created_at AND n.version > r.version`, ...ofNewer],
    ' AND ',
  )})`;

/** The condition, in a query over `receipts r`, for the newest version of each receipt. */
export const newest = newestAmong([]);
