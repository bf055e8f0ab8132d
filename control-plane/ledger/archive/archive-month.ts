/**
 * Takes a month out of Postgres: asked for, frozen, written, noted and detached, and dropped a week later.
 *
 * Invariants: nothing is detached before its files are stored, read back, and hold the same digests as the batches. One instance at a time works on a
 * month; whoever takes it over, after a death at any moment, goes on where the last one was. Once it has its note, the logs of the accounts are told of
 * it, so it can only go on. The note and the end of the partition are transactions in which nobody is under a legal hold.
 */
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import { type Database, Prisma, type Queryable } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import { appendAudit } from '../../people/audit/append.ts';
import type { Context } from '../../shared/context.ts';
import { type ObjectStore, ObjectsUnavailableError } from '../../shared/objects/objects.ts';
import type { FaultKind } from '../integrity/acknowledge.ts';
import { checkBatchPage } from '../integrity/check-batches.ts';
import { trustIn } from '../log/sign.ts';
import { type ArchiveNote, firstOf, nextMonth } from '../receipts/archive-notes.ts';
import { concerns } from '../receipts/interval-claims.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import type { HeldAccounts } from '../retention/holds.ts';
import { noteMonth, publishNote, storedNote } from './note-month.ts';
import { ArchiveHeldUpError, type MonthOptions } from './store-file.ts';
import { archivedFact, tellLogs } from './tell-logs.ts';
import { accountsOf, writeEntries, writeRows } from './write-files.ts';

export interface ArchiveOptions {
  readonly addresses: Context['addresses'];
  readonly db: Database;
  readonly log: Logger;
  readonly now: () => Date;
  readonly objects: ObjectStore;
  readonly redis: Redis;
  readonly seals: Seals;
  /** Signs the note for those who have the files alone. */
  readonly key: SigningKey;
  /** In a transaction no other hold is placed until it ends. */
  readonly held: (tx: Queryable) => Promise<Pick<HeldAccounts, 'accounts' | 'all'>>;
}

const leaseS = 120;
/** How long a month rests that is held up by its rows or its files: finding that out again may cost as much as writing them. */
const restS = 3600;

interface Claim {
  readonly month: string;
  readonly state: string;
  /** As it is stored: whether it counts, its seal tells. */
  readonly note: unknown;
  /** Names the claim as well, and moves when it is renewed. */
  claimed_until: Date;
  /** Set while what holds the month up now would cost as much to find out again. */
  isCostly?: boolean;
}

/**
 * Goes on with the months that were asked for, the oldest first, and drops what was detached long enough ago. Resolves when there is nothing left to do
 * now. A month that fails keeps no other from leaving; the first failure is thrown in the end.
 */
export async function archiveMonths(options: ArchiveOptions): Promise<void> {
  const tried: string[] = [];
  const failures: unknown[] = [];
  for (let claim = await take(options, tried); claim !== null; claim = await take(options, tried)) {
    const { month } = claim;
    tried.push(month);
    try {
      await archiveMonth(options, claim);
      await release(options, claim, null);
    } catch (error) {
      if (error instanceof ArchiveHeldUpError) {
        options.log.warn({ month, reason: error.message }, 'a month of receipts cannot be archived now');
        await release(options, claim, error.message, claim.isCostly === true ? restS : 0);
        continue;
      }
      options.log.error({ month, err: error }, 'the archive of a month of receipts has failed');
      failures.push(error);
      const problem = 'It broke off by a fault, which the log of the control plane names; it is tried again.';
      await release(options, claim, problem).catch(() => {});
    }
  }
  if (failures.length > 0) throw failures[0];
}

async function take({ db }: ArchiveOptions, tried: readonly string[]): Promise<Claim | null> {
  const [claim] = await db.$queryRaw<Claim[]>`
    UPDATE receipt_archives SET claimed_until = CURRENT_TIMESTAMP + ${leaseS}::int * INTERVAL '1 second'
    WHERE month = (
      SELECT month FROM receipt_archives
      WHERE (state IN ('asked', 'frozen') OR state = 'detached' AND detached_at < CURRENT_TIMESTAMP - INTERVAL '7 days')
        AND to_char(month, 'YYYY-MM') <> ALL (${tried})
        AND (claimed_until IS NULL OR claimed_until <= CURRENT_TIMESTAMP
          -- Nobody claims it for longer.
          OR claimed_until > CURRENT_TIMESTAMP + 2 * ${leaseS}::int * INTERVAL '1 second')
        -- Nor does any rest for longer.
        AND (rests_until BETWEEN CURRENT_TIMESTAMP AND CURRENT_TIMESTAMP + ${restS}::int * INTERVAL '1 second') IS NOT TRUE
      ORDER BY receipt_archives.month LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING to_char(month, 'YYYY-MM') AS month, state, note, claimed_until`;
  return claim ?? null;
}

/** Leaves the month alone if another instance has taken it over. */
const release = (
  { db }: ArchiveOptions,
  { claimed_until, month }: Claim,
  problem: string | null,
  forS = 0,
): Promise<unknown> => db.$executeRaw`
  UPDATE receipt_archives SET claimed_until = NULL, problem = ${problem},
    rests_until = CURRENT_TIMESTAMP + nullif(${forS}::int, 0) * INTERVAL '1 second'
  WHERE month = ${firstOf(month)}::date AND claimed_until = ${claimed_until}`;

async function archiveMonth(options: ArchiveOptions, claim: Claim): Promise<void> {
  const { db, log } = options;
  const { month, state } = claim;
  if (state === 'detached') return drop(options, month);
  const goOn = async (): Promise<void> => {
    const [renewed] = await db.$queryRaw<{ claimed_until: Date }[]>`
      UPDATE receipt_archives SET claimed_until = CURRENT_TIMESTAMP + ${leaseS}::int * INTERVAL '1 second'
      WHERE month = ${firstOf(month)}::date AND claimed_until = ${claim.claimed_until} RETURNING claimed_until`;
    if (renewed === undefined)
      throw new ArchiveHeldUpError('Another instance has taken the month over, or it was given up.');
    claim.claimed_until = renewed.claimed_until;
  };
  const own = { ...options, month, goOn };
  // Asked again before each further step.
  await expectNoHold(db, options, await accountsOf(db, month));
  if (state === 'asked') {
    await expectQuiet(options, month);
    await db.$executeRaw`SELECT freeze_receipt_month(${firstOf(month)}::date)`;
    log.info({ month }, 'a month of receipts is frozen, to be archived');
  }
  // From here on no other account can get a receipt in the month.
  const accounts = await accountsOf(db, month);
  const expectFree = (tx: Queryable): Promise<void> => expectNoHold(tx, options, accounts);
  const note = (await storedNote(options, claim)) ?? (await writeMonth(own, claim, expectFree));
  await publishNote(options, note);
  const untold = await tellLogs({ ...own, expectFree }, accounts, note);
  if (untold !== null) {
    claim.isCostly = true;
    throw new ArchiveHeldUpError(untold);
  }
  await goOn();
  await detach(options, note, accounts);
  log.info(
    { month, receipts: note.receipts, place: options.objects.place },
    'a month of receipts is archived, and its partition detached',
  );
}

/** Writes the files of a frozen month, compares them with the batches, and seals the note of them. */
async function writeMonth(
  own: MonthOptions & ArchiveOptions,
  claim: Claim,
  expectFree: (tx: Queryable) => Promise<void>,
): Promise<ArchiveNote> {
  claim.isCostly = true;
  await writeRows(own);
  await writeEntries(own);
  await expectBatches(own, own.key);
  // With its note the month can no longer be given up, and each log has to be whole to be told of it.
  await expectNoFaults(own.db, ['log']);
  claim.isCostly = false;
  return noteMonth(own, claim, expectFree);
}

/** Holds a month up to whose receipts something still has to happen: it would be lost. */
async function expectQuiet({ db }: ArchiveOptions, month: string): Promise<void> {
  const [from, to] = [firstOf(month), nextMonth(month)];
  const [found] = await db.$queryRaw<
    { unlogged: boolean; recalculated: boolean; measured: boolean; unsettled: boolean }[]
  >`
    SELECT EXISTS (SELECT 1 FROM receipt_log_changes WHERE hour >= ${from} AND hour < ${to}) AS unlogged,
      EXISTS (SELECT 1 FROM recalculations WHERE created_at >= ${from} AND created_at < ${to}) AS recalculated,
      EXISTS (SELECT 1 FROM gpu_measurements WHERE created_at >= ${from} AND created_at < ${to}) AS measured,
      EXISTS (
        SELECT 1 FROM restatements r
        WHERE ${concerns(Prisma.sql`r`, Prisma.sql`${from}::timestamptz`, Prisma.sql`${to}::timestamptz`)}) AS unsettled`;
  if (found?.unlogged) throw new ArchiveHeldUpError('Receipts of the month are not in the log of their account yet.');
  if (found?.recalculated || found?.measured)
    throw new ArchiveHeldUpError('Receipts of the month wait to be calculated again.');
  if (found?.unsettled)
    throw new ArchiveHeldUpError('Receipts of the month wait to be restated from settled grid data.');
  await expectNoFaults(db, ['batch', 'log', 'receipt']);
}

async function expectNoFaults(db: Queryable, kinds: readonly FaultKind[]): Promise<void> {
  const found = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM integrity_faults WHERE mended_at IS NULL AND kind = ANY (${kinds}) LIMIT 1`;
  if (found.length > 0)
    throw new ArchiveHeldUpError(
      'The checks have found records that were altered, and they are not mended: ./gw admin integrity faults',
    );
}

/** The batches of the month hold what its rows say, so its files, which have the same digests, are whole. */
async function expectBatches({ db, goOn, month, objects, seals }: MonthOptions, key: SigningKey): Promise<void> {
  const [range] = await db.$queryRaw<{ first: bigint | null; last: bigint | null }[]>`
    SELECT min(first_arrived) AS first, max(last_arrived) AS last FROM receipt_archive_files WHERE month = ${firstOf(month)}::date`;
  if (range === undefined || range.first === null || range.last === null) return;
  for (let next: bigint | null = range.first - 1n; next !== null && next < range.last; ) {
    const page = await checkBatchPage({ db: db as Database, objects, seals, trust: trustIn(key) }, next);
    const [fault] = page.faults;
    if (fault !== undefined)
      throw new ArchiveHeldUpError(
        `The batches do not hold its receipts: ${fault.name} ${fault.number}: ${fault.fault}.`,
      );
    if (page.skipped > 0) throw new ObjectsUnavailableError(`${objects.place} does not answer.`);
    next = page.next;
    await goOn();
  }
}

async function expectNoHold(tx: Queryable, { held }: ArchiveOptions, accounts: readonly string[]): Promise<void> {
  const { accounts: named, all } = await held(tx);
  const one = all ? 'all accounts' : accounts.find((account) => named.has(account));
  if (one !== undefined) throw new ArchiveHeldUpError(`A legal hold is on ${one}.`);
}

async function detach(options: ArchiveOptions, note: ArchiveNote, accounts: readonly string[]): Promise<void> {
  const { files_sha256, month, receipts } = note;
  await options.db.$transaction(
    async (tx) => {
      await expectNoHold(tx, options, accounts);
      await appendAudit(tx, options.now(), {
        ...archivedFact(month),
        accountId: null,
        after: { receipts, files_sha256 },
      });
      // Last of all: from here on nobody reads or writes receipts until the transaction ends.
      await tx.$executeRaw`SELECT detach_receipt_month(${firstOf(month)}::date)`;
    },
    { timeout: 120_000, maxWait: 10_000 },
  );
}

async function drop(options: ArchiveOptions, month: string): Promise<void> {
  await expectChecked(options.db, month);
  await options.db.$transaction(async (tx) => {
    const { all, accounts } = await options.held(tx);
    if (all || accounts.size > 0) throw new ArchiveHeldUpError('A legal hold keeps the detached partition.');
    await tx.$executeRaw`SELECT drop_receipt_month(${firstOf(month)}::date)`;
  });
  options.log.info({ month }, 'the detached partition of an archived month is dropped');
}

/** Rounds that began since the month was detached have read all files again, and compared the batches with them; nothing was found. */
async function expectChecked(db: Queryable, month: string): Promise<void> {
  const [found] = await db.$queryRaw<{ is_checked: boolean; is_faulty: boolean }[]>`
    SELECT (
        -- A transaction that detaches a month ends within two minutes.
        SELECT count(*) FROM integrity_checks c JOIN receipt_archives a ON a.month = ${firstOf(month)}::date
        WHERE c.kind IN ('archive', 'batch') AND c.whole_begun_at > a.detached_at + INTERVAL '2 minutes') = 2 AS is_checked,
      EXISTS (SELECT 1 FROM integrity_faults WHERE kind IN ('archive', 'batch') AND mended_at IS NULL) AS is_faulty`;
  if (found?.is_checked !== true || found.is_faulty)
    throw new ArchiveHeldUpError(
      'The check of the archive has not found it whole since the month was detached, so its partition is not dropped yet.',
    );
}
