/**
 * Writes the files of a frozen month.
 *
 * Invariant: only rows that are genuine and in the log of their account are written; one that is not stops the archive of its month (closed), and is
 * named.
 */
import { defined, elementAt } from '@gw/contract/internal/defined';
import { canonicalText } from '@gw/contract/internal/ledger-entry';
import { Prisma, type Queryable } from '@gw/prisma/client';
import { newestCheckpoint } from '../log/tree.ts';
import { type ArchivedRow, bytesDigest, listedFiles, looseName, partName, rowLine } from '../receipts/archive-files.ts';
import { firstOf, leastId, nextMonth } from '../receipts/archive-notes.ts';
import { partsNamed } from '../receipts/facts-parts.ts';
import { readRows, storedColumns } from '../receipts/read-rows.ts';
import { timeOfReceipt } from '../receipts/receipt-id.ts';
import { parsedColumn } from '../receipts/seal.ts';
import { ArchiveHeldUpError, lastFile, type MonthOptions, storeFile, storeObject } from './store-file.ts';

const rowsOfFile = 1000;
const entriesOfFile = 20_000;

/** In the order in which files have them. */
export async function accountsOf(db: Queryable, month: string): Promise<string[]> {
  // From one to the next by the index, since they are few among very many rows.
  const found = await db.$queryRaw<{ account_id: string }[]>`
    WITH RECURSIVE own AS (
      (SELECT r.account_id FROM receipts r WHERE ${inMonth(month)} ORDER BY r.account_id LIMIT 1)
      UNION ALL
      SELECT (SELECT r.account_id FROM receipts r WHERE ${inMonth(month)} AND r.account_id > own.account_id ORDER BY r.account_id LIMIT 1)
      FROM own WHERE own.account_id IS NOT NULL)
    SELECT account_id FROM own WHERE account_id IS NOT NULL`;
  return found.map(({ account_id }) => account_id).toSorted((one, other) => (one < other ? -1 : 1));
}

const inMonth = (month: string): Prisma.Sql =>
  Prisma.sql`r.created_at >= ${firstOf(month)}::timestamptz AND r.created_at < ${nextMonth(month)}::timestamptz`;

/** Writes the rows, with those of several accounts in one file where they are few. */
export async function writeRows(options: MonthOptions): Promise<void> {
  const { db, month } = options;
  const last = await lastFile(db, month, 'rows');
  let number = last === null ? 0 : last.number;
  let rows: ArchivedRow[] = [];
  const flush = async (): Promise<void> => {
    if (rows.length === 0) return;
    number += 1;
    await storeRows(options, number, rows);
    rows = [];
  };
  for (const account of await accountsOf(db, month)) {
    if (last !== null && account < last.last_account) continue;
    let after = account === last?.last_account ? last.last_id : '';
    for (let isMore = true; isMore; ) {
      const page = await rowsAfter(db, month, account, after);
      isMore = page.isMore;
      rows.push(...page.rows);
      after = page.rows.at(-1)?.id ?? after;
      if (rows.length >= rowsOfFile) await flush();
    }
  }
  await flush();
}

/** All versions of a receipt are on one page. */
async function rowsAfter(db: Queryable, month: string, account: string, after: string) {
  const rows = await readRows<ArchivedRow>(
    db,
    Prisma.sql`
    SELECT ${storedColumns}, coalesce(r.arrived::text, '') AS arrived FROM receipts r
    WHERE r.account_id = ${account} AND ${inMonth(month)} AND (r.created_at, r.id) > (${timeIn(after, month)}::timestamptz, ${after})
    ORDER BY r.created_at, r.id, r.version LIMIT ${rowsOfFile}`,
  );
  if (rows.length < rowsOfFile) return { rows, isMore: false };
  const cut = rows.at(-1)?.id;
  const whole = rows.filter(({ id }) => id !== cut);
  if (whole.length === 0) throw new ArchiveHeldUpError(`Receipt ${cut} has more versions than a file has rows.`);
  return { rows: whole, isMore: true };
}

const timeIn = (id: string, month: string): Date => timeOfReceipt(id) ?? firstOf(month);

async function storeRows(options: MonthOptions, number: number, rows: readonly ArchivedRow[]): Promise<void> {
  const { db, month, seals } = options;
  const faults = await seals.check(rows);
  const at = faults.findIndex((fault) => fault !== null);
  if (at !== -1)
    throw new ArchiveHeldUpError(`Version ${rows[at]?.version} of ${rows[at]?.id} is not genuine: ${faults[at]}.`);
  await expectLogged(db, rows);
  await storeParts(options, rows);
  const [first, last] = [elementAt(rows, 0), elementAt(rows, rows.length - 1)];
  const arrivals = rows
    .map(({ arrived }) => arrivalOf(arrived))
    .toSorted((one, other) => (one < other ? -1 : 1))
    .map(String);
  await storeFile(options, rows.map(rowLine), {
    month,
    kind: 'rows',
    number,
    count: rows.length,
    first_account: first.account_id,
    first_id: first.id,
    last_account: last.account_id,
    last_id: last.id,
    last_version: last.version,
    first_arrived: elementAt(arrivals, 0),
    last_arrived: elementAt(arrivals, arrivals.length - 1),
  });
}

function arrivalOf(text: string): bigint {
  if (text === '') throw new ArchiveHeldUpError('A receipt has no place in the order of arrival.');
  return BigInt(text);
}

async function expectLogged(db: Queryable, rows: readonly ArchivedRow[]): Promise<void> {
  const keys = rows.map(({ account_id, content_sha256, id, version }) => ({ account_id, content_sha256, id, version }));
  const [missing] = await db.$queryRaw<{ id: string; version: number }[]>`
    SELECT k.id, k.version FROM json_to_recordset(${JSON.stringify(keys)}::json) AS k (account_id text, content_sha256 text, id text, version int)
    WHERE NOT EXISTS (
      SELECT 1 FROM receipt_log l WHERE l.receipt_id = k.id AND l.version = k.version AND l.content_sha256 = k.content_sha256
        AND l.account_id = k.account_id) LIMIT 1`;
  if (missing !== undefined)
    throw new ArchiveHeldUpError(`Version ${missing.version} of ${missing.id} is not in the log of its account yet.`);
}

/** Parts of facts that are stored already; the set is emptied now and then. */
const storedParts = new WeakMap<object, Set<string>>();

/** Postgres keeps the parts of facts. The archive has them as well, so that it can be read without Postgres. */
async function storeParts({ db, objects }: MonthOptions, rows: readonly ArchivedRow[]): Promise<void> {
  let known = storedParts.get(objects);
  if (known === undefined || known.size > 50_000) {
    known = new Set();
    storedParts.set(objects, known);
  }
  const named = new Set(rows.flatMap(({ facts }) => partsNamed(parsedColumn(facts)).map(([, sha256]) => sha256)));
  const wanted = [...named].filter((sha256) => !known.has(sha256));
  if (wanted.length === 0) return;
  const found = await db.$queryRaw<{ sha256: string; content: string }[]>`
    SELECT sha256, content::text AS content FROM facts_parts WHERE sha256 = ANY (${wanted})`;
  const contents = new Map(found.map(({ content, sha256 }) => [sha256, Buffer.from(content)]));
  for (const sha256 of wanted) {
    const content = contents.get(sha256);
    // Without it a lineage of the month could never be made again.
    if (content === undefined || bytesDigest(content) !== sha256)
      throw new ArchiveHeldUpError(`A part of the facts of the month is missing or altered in facts_parts: ${sha256}.`);
    await storeObject(objects, partName(sha256), content);
    known.add(sha256);
  }
}

interface EntryRow {
  readonly arrived: string;
  readonly id: string;
  readonly version: number;
  readonly content_sha256: string;
}

/** Writes what the batches hold of the rows. A row that was settled since is counted as it was, and Postgres keeps that. */
export async function writeEntries(options: MonthOptions): Promise<void> {
  const { db, month } = options;
  const last = await lastFile(db, month, 'entries');
  let number = last === null ? 0 : last.number;
  let after: Omit<EntryRow, 'content_sha256'> | null =
    last === null ? null : { arrived: last.last_arrived, id: last.last_id, version: last.last_version };
  for (let isMore = true; isMore; ) {
    const behind: Prisma.Sql =
      after === null
        ? Prisma.empty
        : Prisma.sql`AND r.arrived >= ${after.arrived}::bigint
            AND (r.arrived, r.id COLLATE "C", r.version) > (${after.arrived}::bigint, ${after.id}, ${after.version}::int)`;
    const page: EntryRow[] = await db.$queryRaw<EntryRow[]>`
      SELECT r.arrived::text AS arrived, r.id, r.version, r.content_sha256 FROM receipts r
      WHERE ${inMonth(month)} ${behind}
        AND NOT (r.version = 1 AND EXISTS (SELECT 1 FROM receipt_replacements p WHERE p.receipt_id = r.id AND p.version = 1))
      ORDER BY r.arrived, r.id COLLATE "C", r.version LIMIT ${entriesOfFile}`;
    isMore = page.length === entriesOfFile;
    const [first, end] = [page[0], page.at(-1)];
    if (first === undefined || end === undefined) return;
    number += 1;
    after = end;
    const lines = page.map(
      ({ arrived, content_sha256, id, version }) => `${arrived} ${id} ${version} ${content_sha256}`,
    );
    await storeFile(options, lines, {
      month,
      kind: 'entries',
      number,
      count: page.length,
      first_account: '',
      first_id: first.id,
      last_account: '',
      last_id: end.id,
      last_version: end.version,
      first_arrived: first.arrived,
      last_arrived: end.arrived,
    });
  }
}

export interface Written {
  readonly receipts: number;
  readonly files: { readonly rows: number; readonly entries: number };
  readonly files_sha256: string;
  readonly checkpoints_sha256: string;
}

/** Stores the list of the files, and the newest checkpoints of the accounts of the month, and returns what the note says of them. */
export async function closeFiles(options: MonthOptions): Promise<Written> {
  const { db, month, objects } = options;
  const pieces: string[] = [];
  for await (const piece of listedFiles(db, month)) pieces.push(piece);
  const list = Buffer.from(pieces.join(''));
  await storeObject(objects, looseName(month, 'files.txt'), list);
  const checkpoints: string[] = [];
  for (const account of await accountsOf(db, month))
    checkpoints.push(canonicalText((await newestCheckpoint(db, account)) ?? { account }));
  const signed = Buffer.from(`${checkpoints.join('\n')}\n`);
  await storeObject(objects, looseName(month, 'checkpoints.jsonl'), signed);
  const { entries, receipts, rows } = await expectAll(db, month);
  return {
    receipts,
    files: { rows, entries },
    files_sha256: bytesDigest(list),
    checkpoints_sha256: bytesDigest(signed),
  };
}

/** Each row is among the entries, or Postgres keeps how it was before it was settled. */
async function expectAll(db: Queryable, month: string) {
  const [low, high] = [leastId(firstOf(month)), leastId(nextMonth(month))];
  const [counts] = await db.$queryRaw<
    { rows: number; entries: number; receipts: number; told: number; settled: number }[]
  >`
    SELECT count(*) FILTER (WHERE kind = 'rows')::float8 AS rows, count(*) FILTER (WHERE kind = 'entries')::float8 AS entries,
      coalesce(sum(count) FILTER (WHERE kind = 'rows'), 0)::float8 AS receipts,
      coalesce(sum(count) FILTER (WHERE kind = 'entries'), 0)::float8 AS told,
      (SELECT count(DISTINCT receipt_id)::float8 FROM receipt_replacements
        WHERE receipt_id >= ${low} AND receipt_id < ${high} AND version = 1) AS settled
    FROM receipt_archive_files WHERE month = ${firstOf(month)}::date`;
  const { settled, told, ...found } = defined(counts, 'The counts of the files');
  if (found.receipts !== told + settled)
    throw new ArchiveHeldUpError(
      `The files have ${found.receipts} versions of receipts, and the batches tell of ${told}, and ${settled} that were settled.`,
    );
  return found;
}
