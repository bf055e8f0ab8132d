/**
 * Puts the receipts of hours that are over into the log of their account, and signs how far it is.
 *
 * Invariant: a receipt that was stored is in the log, however it came: the marks of its hour are taken away only after all that was
 * stored when they were read has been logged. What is logged is what was sealed: an altered row is not, and its hour stays marked.
 * Several instances can do it at once.
 */

import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import { canonicalText } from '@gw/contract/internal/ledger-entry';
import { type Checkpoint, signedCheckpoint } from '@gw/evidence/checkpoint';
import { leafHash } from '@gw/evidence/merkle';
import type { Database, Queryable } from '@gw/prisma/client';
import { appendAudit } from '../../people/audit/append.ts';
import type { Context } from '../../shared/context.ts';
import { type RepeatedJob, repeat } from '../../shared/repeat.ts';
import type { LedgerRow } from '../receipts/seal.ts';
import { genuine, type Seals, storedColumns } from '../receipts/sealed-rows.ts';
import { appendLeaves, type Leaf, LogBrokenError, lockLog, logSize, newestCheckpoint, rootOf } from './tree.ts';

const everyMs = 60_000;
/** Hours of accounts in one round, and receipts in one transaction. */
const hoursAtOnce = 100;
const pageSize = 500;
/** Receipts arrive in the ledger a little after the end of their hour. */
export const restS = 300;

export interface LogOptions extends Pick<Context, 'db' | 'now'> {
  readonly seals: Seals;
  readonly key: SigningKey;
}

export function startReceiptLog(options: LogOptions & Pick<Context, 'log'>): RepeatedJob {
  const stopping = new AbortController();
  const { signal } = stopping;
  const job = repeat({
    name: 'log of receipts',
    everyMs,
    log: options.log,
    run: () => appendReceipts(options, signal),
  });
  return {
    stop: () => {
      stopping.abort();
      return job.stop();
    },
  };
}

interface DueHour {
  readonly account_id: string;
  readonly hour: Date;
  readonly marks: bigint[];
}

/** Logs all hours that are over and have marks, and signs a checkpoint of each account whose log has grown. Rejects if one could not. */
export async function appendReceipts(options: LogOptions, signal?: AbortSignal): Promise<void> {
  const { db } = options;
  const failures: Error[] = [];
  // What somebody has broken of one account holds up no other.
  const apart = (account: string, work: () => Promise<void>) =>
    work().catch(
      (cause) => void failures.push(new Error(`The log of receipts of ${account} cannot go on.`, { cause })),
    );
  for (let after = { account_id: '', hour: new Date(0) }; !signal?.aborted; ) {
    const due = await db.$queryRaw<DueHour[]>`
      SELECT account_id, hour, array_agg(seq) AS marks FROM receipt_log_changes
      WHERE (hour, account_id) > (${after.hour}, ${after.account_id})
        AND hour < date_trunc('hour', now() - ${restS}::int * INTERVAL '1 second', 'UTC')
      GROUP BY hour, account_id ORDER BY hour, account_id LIMIT ${hoursAtOnce}`;
    for (const hour of due) if (!signal?.aborted) await apart(hour.account_id, () => appendHour(options, hour, signal));
    for (const account of new Set(due.map(({ account_id }) => account_id)))
      await apart(account, () => signCheckpoint(options, account));
    const last = due.at(-1);
    if (last === undefined || due.length < hoursAtOnce) break;
    after = last;
  }
  if (failures.length > 0) throw new AggregateError(failures, `The logs of ${failures.length} accounts cannot go on.`);
}

async function appendHour(
  options: LogOptions,
  { account_id, hour, marks }: DueHour,
  signal?: AbortSignal,
): Promise<void> {
  const { db, seals } = options;
  let isWhole = true;
  for (let page: Page = { next: null, isGenuine: true }; page !== null; ) {
    page = await appendPage(db, seals, { accountId: account_id, hour, after: page.next });
    isWhole &&= page.isGenuine;
    if (page.next === null) break;
    if (signal?.aborted) return;
  }
  if (isWhole) await db.$executeRaw`DELETE FROM receipt_log_changes WHERE seq = ANY (${marks}::bigint[])`;
}

interface Page {
  /** The last version that it has looked at; null: there are no more. */
  readonly next: Pick<LedgerRow, 'id' | 'version' | 'created_at'> | null;
  readonly isGenuine: boolean;
}

async function appendPage(
  db: Database,
  seals: Seals,
  { accountId, after, hour }: { readonly accountId: string; readonly hour: Date; readonly after: Page['next'] },
): Promise<Page> {
  const from = after ?? { id: '', version: 0, created_at: hour };
  return db.$transaction(
    async (tx) => {
      await lockLog(tx, accountId);
      const rows = await tx.$queryRaw<LedgerRow[]>`
        SELECT ${storedColumns} FROM receipts r
        WHERE r.account_id = ${accountId} AND r.created_at >= ${hour} AND r.created_at < ${hour}::timestamptz + INTERVAL '1 hour'
          AND (r.created_at, r.id, r.version) > (${from.created_at}, ${from.id}, ${from.version})
          AND NOT EXISTS (
            SELECT 1 FROM receipt_log l WHERE l.receipt_id = r.id AND l.version = r.version
              AND l.content_sha256 = coalesce(r.content_sha256, ''))
        ORDER BY r.created_at, r.id, r.version LIMIT ${pageSize}`;
      const sound = await genuine(seals, rows);
      if (sound.length > 0) await appendLeaves(tx, accountId, sound.map(leafOf));
      const last = rows.at(-1);
      return {
        next: last === undefined || rows.length < pageSize ? null : last,
        isGenuine: sound.length === rows.length,
      };
    },
    { timeout: 60_000, maxWait: 10_000 },
  );
}

const leafOf = ({ body, content_sha256, created_at, id, version }: LedgerRow): Leaf => ({
  receiptId: id,
  version,
  createdAt: created_at,
  hash: entryHash(body),
  contentSha256: content_sha256 ?? '',
});

/** The hash of a receipt in the log. `body`: its JSON. */
export const entryHash = (body: string): string => leafHash(canonicalText(JSON.parse(body)));

async function signCheckpoint({ db, key, now }: LogOptions, accountId: string): Promise<void> {
  await db.$transaction(async (tx) => {
    await lockLog(tx, accountId);
    const size = await logSize(tx, accountId);
    const before = await newestCheckpoint(tx, accountId);
    if (before !== null) await expectToGoOn(tx, before, size);
    if (size === (before?.tree_size ?? 0)) return;
    const root = await rootOf(tx, accountId, size);
    const checkpoint = await signedCheckpoint({ account: accountId, size, root, issued: now() }, key);
    await tx.$executeRaw`
      INSERT INTO receipt_log_checkpoints (account_id, tree_size, checkpoint)
      VALUES (${accountId}, ${size}, ${JSON.stringify(checkpoint)}::json)`;
    await appendAudit(tx, now(), {
      ...{ accountId, actor: { kind: 'system', id: 'receipt_log', name: null }, action: 'receipt_log.signed' },
      ...{ target: `receipt_log:${accountId}`, requestId: null, after: { tree_size: size, root_hash: root } },
    });
  });
}

/** Nothing is signed that does not go on from what was signed before. */
async function expectToGoOn(tx: Queryable, { account, root_hash, tree_size }: Checkpoint, size: number): Promise<void> {
  if (size < tree_size || (await rootOf(tx, account, tree_size)) !== root_hash)
    throw new LogBrokenError('The log of receipts does not go on from its last checkpoint.');
}
