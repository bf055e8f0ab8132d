/**
 * Checks the content of the rows of the ledger against their seals. The batches tell whether the rows are all there, and no others
 * (check-batches.ts).
 *
 * Invariant: a full check looks at every row that was there when it began: at its content, or at the digest over the section that it is in
 * (sections.ts).
 */
import { type Database, Prisma } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import { isArchived, isReceipt } from '../log/archived-leaf.ts';
import { entrySeal, type SealedLeaf } from '../log/tree.ts';
import { archivedMonths } from '../receipts/archive-notes.ts';
import { readRows, replacedRows, storedColumns } from '../receipts/read-rows.ts';
import { newerThanPresent } from '../receipts/restore.ts';
import type { LedgerFault, LedgerRow } from '../receipts/seal.ts';
import { type Seals, withoutReport } from '../receipts/sealed-rows.ts';
import { type PartFault, wholeFacts } from '../receipts/whole-facts.ts';
import { type Fault, noteFaults } from './faults.ts';
import { goRound, type RoundPace, type RoundPage, type RoundPlace } from './rounds.ts';
import {
  type DigestedRow,
  isUnchanged,
  nextSection,
  rowDigest,
  SectionMaker,
  type StoredSection,
  sealableDay,
} from './sections.ts';

export interface ReceiptCheckOptions extends RoundPace {
  readonly db: Database;
  readonly log: Logger;
  /** Its `check` also reports what it finds. */
  readonly seals: Seals;
}

export interface CheckedPage extends RoundPage {
  readonly faults: readonly Fault[];
  readonly rows: readonly DigestedRow[];
}

const newestCount = 1000;
const pageSize = 250;

/** Checks the newest 1,000 versions, which are in every round because they are served most often. */
export async function checkNewest({
  db,
  log,
  seals,
}: Pick<ReceiptCheckOptions, 'db' | 'log' | 'seals'>): Promise<void> {
  const rows = await readRows(
    db,
    Prisma.sql`
    SELECT ${storedColumns} FROM receipts r ORDER BY r.id DESC, r.version DESC LIMIT ${newestCount}`,
  );
  const found = await check({ db, seals }, rows);
  const genuine = rows.filter((_, at) => found[at] === null);
  await noteFaults({ db, log }, 'receipt', await rolledBackAmong({ db, seals }, genuine));
}

/** Returns what is wrong with each row or with a part of its facts, and reports it. */
async function check(
  stores: Pick<ReceiptCheckOptions, 'db' | 'seals'>,
  rows: readonly LedgerRow[],
): Promise<(LedgerFault | PartFault | null)[]> {
  const faults = await stores.seals.check(rows);
  const genuine = rows.filter((_, at) => faults[at] === null);
  const whole = new Map((await wholeFacts(stores, genuine)).map((facts, at) => [genuine[at], facts]));
  return rows.map((row, at) => {
    const facts = whole.get(row);
    return faults[at] ?? (facts !== undefined && 'fault' in facts ? facts.fault : null);
  });
}

/** Checks the 250 versions after this place, or those up to `end`, and reports what it finds. */
export async function checkPage(
  { db, log, seals }: Pick<ReceiptCheckOptions, 'db' | 'log' | 'seals'>,
  after: RoundPlace,
  end: RoundPlace | null = null,
): Promise<CheckedPage> {
  const { unreported, ...page } = await checkRows({ db, seals }, after, end);
  await noteFaults({ db, log }, 'receipt', unreported);
  return page;
}

/** The same for a read, which leaves nothing behind: the checks that run by themselves report what is true of what it finds. */
export async function readPage(
  { db, seals }: Pick<ReceiptCheckOptions, 'db' | 'seals'>,
  after: RoundPlace,
): Promise<CheckedPage> {
  const { unreported: _, ...page } = await checkRows({ db, seals: withoutReport(seals) }, after);
  return page;
}

/**
 * If a version lacks the one before it, that one was deleted, and is `missing`; so is one that the log of its account has. `unreported`: what
 * `seals` have not reported.
 */
async function checkRows(
  { db, seals }: Pick<ReceiptCheckOptions, 'db' | 'seals'>,
  after: RoundPlace,
  end: RoundPlace | null = null,
): Promise<CheckedPage & { readonly unreported: readonly Fault[] }> {
  const upTo = end === null ? Prisma.empty : Prisma.sql`AND (r.id, r.version) <= (${end.id}, ${end.version})`;
  const read = await readRows<DigestedRow>(
    db,
    Prisma.sql`
    SELECT ${storedColumns}, ${rowDigest} AS row_digest FROM receipts r
    WHERE (r.id, r.version) > (${after.id}, ${after.version}) ${upTo} ORDER BY r.id, r.version LIMIT ${pageSize}`,
  );
  const rows = ofOneDay(read);
  const found = await check({ db, seals }, rows);
  const altered = rows.flatMap(({ id, version }, at) => {
    const fault = found[at] ?? null;
    return fault === null ? [] : { name: id, number: version, fault };
  });
  const missing = rows.flatMap(({ id, version }, at) => {
    const before = at === 0 ? after : rows[at - 1];
    // Whoever says where to begin can name a version below the first, and somebody with the database can have made one.
    const expected = before?.id === id ? Math.max(before.version, 0) + 1 : 1;
    return version === expected ? [] : { name: id, number: expected, fault: 'missing' };
  });
  const rolledBack = (await rolledBackAmong({ db, seals }, rows)).filter(
    ({ name, number }) => !altered.some((fault) => fault.name === name && fault.number === number),
  );
  const next = read.length < pageSize && rows.length === read.length ? end : (rows.at(-1) ?? null);
  const removed = (await removedSince({ db, seals }, after, next)).filter(
    ({ name, number }) => !missing.some((fault) => fault.name === name && fault.number === number),
  );
  const unreported = [...missing, ...removed, ...rolledBack];
  return { checked: rows.length, faults: [...altered, ...unreported], next, rows, unreported };
}

/** The rows in front of the first one of another day, since a section has those of one. */
function ofOneDay(rows: readonly DigestedRow[]): readonly DigestedRow[] {
  const [first] = rows;
  if (first === undefined) return rows;
  const now = Date.now();
  const day = sealableDay(first, now);
  const end = rows.findIndex((row) => sealableDay(row, now) !== day);
  return end === -1 ? rows : rows.slice(0, end);
}

/**
 * Rows that are genuine and older than one which was genuine too: somebody with the rights of the services has put an older row back, which is
 * done only where the newer one is not genuine.
 */
async function rolledBackAmong(
  { db, seals }: Pick<ReceiptCheckOptions, 'db' | 'seals'>,
  rows: readonly LedgerRow[],
): Promise<Fault[]> {
  const replaced = await replacedRows(
    db,
    rows.map(({ id }) => id),
  );
  if (replaced.length === 0) return [];
  return rows.flatMap((row) =>
    newerThanPresent(seals, row, replaced) === undefined
      ? []
      : [{ name: row.id, number: row.version, fault: 'rolled back' }],
  );
}

/** Whether a page can have ended there. */
export async function isPlace(db: Database, { id, version }: Pick<LedgerRow, 'id' | 'version'>): Promise<boolean> {
  const found = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM receipts WHERE id = ${id} AND version = ${version} LIMIT 1`;
  return found.length > 0;
}

interface LoggedRow extends SealedLeaf {
  readonly accountId: string;
  readonly index: number;
}

/**
 * Finds, page by page, all receipts that the logs of the accounts have between two places and the ledger lacks. `to` null: to the end. A row of a log
 * that is not sealed says nothing.
 */
async function removedSince(
  { db, seals }: Pick<ReceiptCheckOptions, 'db' | 'seals'>,
  after: RoundPlace,
  to: RoundPlace | null,
): Promise<Fault[]> {
  const end = to === null ? Prisma.empty : Prisma.sql`AND (l.receipt_id, l.version) <= (${to.id}, ${to.version})`;
  const removed = new Map<string, Fault>();
  // The batches tell what is missing in a month that is archived.
  const archived = await archivedMonths(db, seals);
  for (let from = Prisma.sql`(l.receipt_id, l.version) > (${after.id}, ${after.version})`; ; ) {
    const page = await db.$queryRaw<LoggedRow[]>`
      SELECT l.account_id AS "accountId", l.index::float8 AS index, l.receipt_id AS "receiptId", l.version, l.created_at AS "createdAt",
        encode(l.leaf_hash, 'hex') AS hash, l.content_sha256 AS "contentSha256", encode(l.seal, 'hex') AS seal, l.seal_key::int AS id
      FROM receipt_log l
      WHERE ${from} ${end}
        AND NOT EXISTS (
          SELECT 1 FROM receipts r
          WHERE r.id = l.receipt_id AND r.created_at = l.created_at AND r.version = l.version)
        AND l.${isReceipt} AND NOT ${isArchived(archived)}
      ORDER BY l.receipt_id, l.version, l.content_sha256, l.account_id LIMIT ${pageSize}`;
    for (const { accountId, index, ...leaf } of page)
      if (seals.textFault('gw.log_entry', entrySeal(accountId, index, leaf), leaf) === null)
        removed.set(`${leaf.receiptId}:${leaf.version}`, {
          name: leaf.receiptId,
          number: leaf.version,
          fault: 'missing',
        });
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return [...removed.values()];
    const { accountId, contentSha256, receiptId, version } = last;
    from = Prisma.sql`(l.receipt_id, l.version, l.content_sha256, l.account_id)
      > (${receiptId}, ${version}, ${contentSha256}, ${accountId})`;
  }
}

/** One section of so many is read anew, although its digest is right: that is made by Postgres, and somebody can have changed how it makes it. */
const anewEvery = 100;

/** Null: the section is to be read. A receipt that came into its day after it was sealed, and is gone again, is in no digest, so it is looked for. */
const compared = async (options: ReceiptCheckOptions, section: StoredSection): Promise<readonly Fault[] | null> =>
  (await isUnchanged(options, section)) ? removedSince(options, section.after, section.to) : null;

/** Begins the full check or goes on with it, if it is due and no other instance has it. Throws if Postgres is away. */
export async function checkAll(
  options: ReceiptCheckOptions,
  isReadAnew = () => Math.random() * anewEvery < 1,
): Promise<boolean> {
  const maker = new SectionMaker(options);
  return goRound({ ...options, kind: 'receipt' }, async (after) => {
    const section = await nextSection(options.db, after);
    const isHere = section !== null && section.after.id === after.id && section.after.version === after.version;
    if (isHere) {
      await maker.end();
      // A database that is too busy for so long a statement still answers for a page, so that the round goes on.
      const removed = isReadAnew() ? null : await compared(options, section).catch(() => null);
      if (removed !== null) {
        await noteFaults(options, 'receipt', removed);
        return { checked: section.rows, next: section.to };
      }
    }
    const end = isHere ? section.to : (section?.after ?? null);
    const { rows, ...page } = await checkPage(options, after, end);
    const to = page.next ?? rows.at(-1) ?? null;
    const isSealable = page.faults.length === 0 && rows.every((row) => sealableDay(row, Date.now()) !== null);
    if (isSealable && to !== null) await maker.add(after, to, rows);
    if (!isSealable || page.next === null) await maker.end();
    return page;
  });
}
