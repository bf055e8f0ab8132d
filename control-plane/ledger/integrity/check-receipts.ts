/**
 * Checks the rows of the ledger against their seals.
 *
 * Invariant: a full check looks at every row that was there when it began, in the hands of one instance at a time;
 * whoever takes it over goes on where the last one was. It takes a quarter of one core at most, however large the
 * ledger is: then it takes longer than the period, and the time of the last one tells.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Database, Prisma } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import { readRows, storedColumns } from '../receipts/read-rows.ts';
import type { LedgerFault, LedgerRow } from '../receipts/seal.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import { type PartFault, wholeFacts } from '../receipts/whole-facts.ts';
import { type Fault, forgetFaults, noteFaults } from './faults.ts';

export interface ReceiptCheckOptions {
  readonly db: Database;
  readonly log: Logger;
  /** Its `check` also reports what it finds. */
  readonly seals: Seals;
  readonly fullS: number;
  /** Ends the check after the page that it is at. */
  readonly signal: AbortSignal;
}

/** A version of a receipt, as a place in the order of the ledger. */
export interface LedgerPosition {
  readonly id: string;
  readonly version: number;
}

export interface CheckedPage {
  readonly checked: number;
  readonly faults: readonly Fault[];
  /** Where the next page begins; null after the last one. */
  readonly next: LedgerPosition | null;
}

const newestCount = 1000;
const pageSize = 250;
const leaseS = 120;
/** How long the check rests after a page: this many times what the page took. */
const restFactor = 3;

/** Checks the newest 1,000 versions, which are in every round because they are served most often. */
export async function checkNewest({ db, seals }: Pick<ReceiptCheckOptions, 'db' | 'seals'>): Promise<void> {
  const rows = await readRows(
    db,
    Prisma.sql`
    SELECT ${storedColumns} FROM receipts r ORDER BY r.id DESC, r.version DESC LIMIT ${newestCount}`,
  );
  await check({ db, seals }, rows);
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

/**
 * Checks the 250 versions after this place, and reports what it finds. If a version lacks the one before it, that one
 * was deleted, and is `missing`; so is one that the log of its account has.
 */
export async function checkPage(
  { db, log, seals }: Pick<ReceiptCheckOptions, 'db' | 'log' | 'seals'>,
  after: LedgerPosition,
): Promise<CheckedPage> {
  const rows = await readRows(
    db,
    Prisma.sql`
    SELECT ${storedColumns} FROM receipts r WHERE (r.id, r.version) > (${after.id}, ${after.version})
    ORDER BY r.id, r.version LIMIT ${pageSize}`,
  );
  const found = await check({ db, seals }, rows);
  const altered = rows.flatMap(({ id, version }, at) => {
    const fault = found[at] ?? null;
    return fault === null ? [] : { name: id, number: version, fault };
  });
  const missing = rows.flatMap(({ id, version }, at) => {
    const before = at === 0 ? after : rows[at - 1];
    const expected = before?.id === id ? before.version + 1 : 1;
    return version === expected ? [] : { name: id, number: expected, fault: 'missing' };
  });
  const next = rows.length < pageSize ? null : (rows.at(-1) ?? null);
  const removed = (await removedSince(db, after, next)).filter(
    ({ name, number }) => !missing.some((fault) => fault.name === name && fault.number === number),
  );
  await noteFaults({ db, log }, 'receipt', [...missing, ...removed]);
  return { checked: rows.length, faults: [...altered, ...missing, ...removed], next };
}

/** Finds, page by page, all receipts that the logs of the accounts have between two places and the ledger lacks. `to` null: to the end. */
async function removedSince(db: Database, after: LedgerPosition, to: LedgerPosition | null): Promise<Fault[]> {
  const end = to === null ? Prisma.empty : Prisma.sql`AND (l.receipt_id, l.version) <= (${to.id}, ${to.version})`;
  const removed: Fault[] = [];
  for (let from = after; ; ) {
    const page = await db.$queryRaw<Fault[]>`
      SELECT DISTINCT l.receipt_id AS name, l.version AS number, 'missing' AS fault FROM receipt_log l
      WHERE (l.receipt_id, l.version) > (${from.id}, ${from.version}) ${end}
        AND NOT EXISTS (
          SELECT 1 FROM receipts r
          WHERE r.id = l.receipt_id AND r.created_at = l.created_at AND r.version = l.version)
      ORDER BY name, number LIMIT ${pageSize}`;
    removed.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return removed;
    from = { id: last.name, version: last.number };
  }
}

/** Begins the full check or goes on with it, if it is due and no other instance has it. Throws if Postgres is away. */
export async function checkAll(options: ReceiptCheckOptions): Promise<void> {
  const { db, signal } = options;
  for (let claim = await take(options); claim !== null && !signal.aborted; ) {
    const from = performance.now();
    const { next } = await checkPage(options, { id: claim.afterId, version: claim.afterVersion });
    if (next === null) return finish(db, claim);
    claim = await goOn(db, claim, next);
    await delay((performance.now() - from) * restFactor, undefined, { signal }).catch(() => {});
  }
}

interface CheckClaim {
  readonly begunAt: Date;
  /** Names the claim as well. */
  readonly claimedUntil: Date;
  readonly afterId: string;
  readonly afterVersion: number;
}

async function take({ db, fullS }: ReceiptCheckOptions): Promise<CheckClaim | null> {
  const [claim] = await db.$queryRaw<CheckClaim[]>`
    UPDATE integrity_checks SET claimed_until = CURRENT_TIMESTAMP + ${leaseS}::int * INTERVAL '1 second',
      -- None began at another time, which JavaScript might have no date for.
      begun_at = CASE WHEN begun_at BETWEEN '2000-01-01' AND CURRENT_TIMESTAMP THEN begun_at ELSE CURRENT_TIMESTAMP END
    WHERE kind = 'receipt' AND (claimed_until IS NULL OR claimed_until <= CURRENT_TIMESTAMP
        -- Nobody claims it for longer: such a claim was put there to keep everybody away.
        OR claimed_until > CURRENT_TIMESTAMP + 2 * ${leaseS}::int * INTERVAL '1 second')
      AND (begun_at IS NOT NULL OR finished_at IS NULL
        OR finished_at <= CURRENT_TIMESTAMP - ${fullS}::int * INTERVAL '1 second' OR finished_at > CURRENT_TIMESTAMP)
    RETURNING begun_at AS "begunAt", claimed_until AS "claimedUntil", after_id AS "afterId",
      after_version AS "afterVersion"`;
  return claim ?? null;
}

/** Null if another instance has taken it over. */
async function goOn(db: Database, { claimedUntil }: CheckClaim, next: LedgerPosition): Promise<CheckClaim | null> {
  const [claim] = await db.$queryRaw<CheckClaim[]>`
    UPDATE integrity_checks SET claimed_until = CURRENT_TIMESTAMP + ${leaseS}::int * INTERVAL '1 second',
      after_id = ${next.id}, after_version = ${next.version}
    WHERE kind = 'receipt' AND claimed_until = ${claimedUntil}
    RETURNING begun_at AS "begunAt", claimed_until AS "claimedUntil", after_id AS "afterId",
      after_version AS "afterVersion"`;
  return claim ?? null;
}

async function finish(db: Database, { begunAt, claimedUntil }: CheckClaim): Promise<void> {
  await forgetFaults(db, 'receipt', begunAt);
  await db.$executeRaw`
    UPDATE integrity_checks SET claimed_until = NULL, begun_at = NULL, after_id = '', after_version = 0,
      finished_at = CURRENT_TIMESTAMP
    WHERE kind = 'receipt' AND claimed_until = ${claimedUntil}`;
}
