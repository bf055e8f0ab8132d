/**
 * Puts the receipts of hours that are over into the log of their account, and signs how far it is.
 *
 * Invariant: a receipt that was stored is in the log, however it came: the marks of its hour are taken away only after all that was
 * stored when they were read has been logged, and signed: whoever dies in between leaves them to the next round. What is logged is
 * what was sealed: an altered row is not, and its hour stays marked. What somebody else has put into the log is taken out before anything is
 * put behind it. Several instances can do it at once.
 */

import { defined } from '@gw/contract/internal/defined';
import { KeyAwayError, type SigningKey } from '@gw/contract/internal/evidence-keys';
import { canonicalText } from '@gw/contract/internal/ledger-entry';
import { leafHash } from '@gw/evidence/merkle';
import { type Database, Prisma } from '@gw/prisma/client';
import type { Context } from '../../shared/context.ts';
import { type RepeatedJob, repeat } from '../../shared/repeat.ts';
import { readRows, storedColumns } from '../receipts/read-rows.ts';
import type { LedgerRow } from '../receipts/seal.ts';
import { genuine, type Seals } from '../receipts/sealed-rows.ts';
import { signCheckpoint } from './sign.ts';
import { cleanTail, reportPlanted, signedSize } from './tail.ts';
import { appendLeaves, type Leaf, lockLog } from './tree.ts';

const everyMs = 60_000;
/** Hours of accounts in one round, and receipts in one transaction. */
const hoursAtOnce = 100;
const pageSize = 500;
const patient = { timeout: 60_000, maxWait: 10_000 };
/** The receipt of a call arrives in the ledger when the call ends, so some time after the hour in which it began. */
const restS = 900;

export interface LogOptions extends Pick<Context, 'addresses' | 'db' | 'now'> {
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
  readonly marks: readonly bigint[];
}

/** Logs all hours that are over and have marks, and signs a checkpoint of each account whose log has grown. Rejects if one could not. */
export async function appendReceipts(options: LogOptions, signal?: AbortSignal): Promise<void> {
  const { db } = options;
  const failures: Error[] = [];
  let isKeyAway = false;
  // A log that somebody has broken holds up no other account.
  const apart = (account: string, work: () => Promise<void>) =>
    work().catch((cause) => {
      failures.push(new Error(`The log of receipts of ${account} cannot go on.`, { cause }));
      isKeyAway ||= cause instanceof KeyAwayError && cause.isTemporary;
    });
  const until = await endOfRest(options);
  const done = new Followed();
  for (let after = { account_id: '', hour: new Date(0) }; !signal?.aborted && !isKeyAway; ) {
    const due = await db.$queryRaw<DueHour[]>`
      SELECT account_id, hour, array_agg(seq) AS marks FROM receipt_log_changes
      WHERE (hour, account_id) > (${after.hour}, ${after.account_id}) AND hour < ${until}
      GROUP BY hour, account_id ORDER BY hour, account_id LIMIT ${hoursAtOnce}`;
    for (const account of new Set(due.map(({ account_id }) => account_id)))
      await apart(account, () => cleanLog(options, account));
    for (const hour of due)
      if (!signal?.aborted)
        await apart(hour.account_id, async () => done.add(hour, await appendHour(options, hour, signal)));
    for (const account of new Set(due.map(({ account_id }) => account_id))) {
      // Each account would wait as long for the key service, and hold its log meanwhile.
      if (isKeyAway) break;
      await apart(account, async () => {
        await signCheckpoint(options, account, { until, marks: done.marks(account) });
        await db.$executeRaw`DELETE FROM receipt_log_changes WHERE seq = ANY (${done.takeWhole(account)}::bigint[])`;
      });
    }
    const last = due.at(-1);
    if (last === undefined || due.length < hoursAtOnce) break;
    after = last;
  }
  if (failures.length > 0) throw new AggregateError(failures, `The logs of ${failures.length} accounts cannot go on.`);
}

async function cleanLog({ db, seals }: LogOptions, accountId: string): Promise<void> {
  const { planted } = await db.$transaction(async (tx) => {
    await lockLog(tx, accountId);
    return cleanTail(tx, seals, accountId, await signedSize(tx, accountId));
  }, patient);
  await reportPlanted(seals, accountId, planted);
}

/** The hours before it are over. By the slower of two clocks: a hasty one would make honest receipts late. */
async function endOfRest({ db, now }: LogOptions): Promise<Date> {
  const [found] = await db.$queryRaw<{ until: Date }[]>`
    SELECT date_trunc('hour', least(${now()}, now()) - ${restS}::int * INTERVAL '1 second', 'UTC') AS until`;
  return found?.until ?? new Date(0);
}

/** `cut`: the process ends, and not all of the hour was looked at. `partial`: all that is genuine was logged. */
type Outcome = 'cut' | 'partial' | 'whole';

/** The marks whose hours a round has logged, by account. */
class Followed {
  readonly #whole = new Map<string, bigint[]>();
  readonly #partial = new Map<string, bigint[]>();

  add({ account_id, marks }: DueHour, outcome: Outcome): void {
    if (outcome === 'cut') return;
    const kept = outcome === 'whole' ? this.#whole : this.#partial;
    kept.set(account_id, [...(kept.get(account_id) ?? []), ...marks]);
  }

  marks(account: string): bigint[] {
    return [...(this.#whole.get(account) ?? []), ...(this.#partial.get(account) ?? [])];
  }

  /** Returns the marks of whole hours, and forgets them. */
  takeWhole(account: string): bigint[] {
    const whole = this.#whole.get(account) ?? [];
    this.#whole.delete(account);
    return whole;
  }
}

async function appendHour(
  { db, seals }: LogOptions,
  { account_id, hour }: DueHour,
  signal?: AbortSignal,
): Promise<Outcome> {
  let isWhole = true;
  for (let after: LogPage['next'] = null; ; ) {
    const page = await appendPage(db, seals, { accountId: account_id, hour, after });
    isWhole &&= page.isGenuine;
    if (page.next === null) return isWhole ? 'whole' : 'partial';
    if (signal?.aborted) return 'cut';
    after = page.next;
  }
}

interface LogPage {
  /** The last version that it has looked at; null: there are no more. */
  readonly next: Pick<LedgerRow, 'id' | 'version' | 'created_at'> | null;
  readonly isGenuine: boolean;
}

async function appendPage(
  db: Database,
  seals: Seals,
  { accountId, after, hour }: { readonly accountId: string; readonly hour: Date; readonly after: LogPage['next'] },
): Promise<LogPage> {
  const from = after ?? { id: '', version: 0, created_at: hour };
  return db.$transaction(async (tx) => {
    await lockLog(tx, accountId);
    const rows = await readRows(
      tx,
      Prisma.sql`
        SELECT ${storedColumns} FROM receipts r
        WHERE r.account_id = ${accountId} AND r.created_at >= ${hour} AND r.created_at < ${hour}::timestamptz + INTERVAL '1 hour'
          AND (r.created_at, r.id, r.version) > (${from.created_at}, ${from.id}, ${from.version})
          AND NOT EXISTS (
            SELECT 1 FROM receipt_log l WHERE l.receipt_id = r.id AND l.version = r.version
              AND l.content_sha256 = r.content_sha256 AND l.account_id = ${accountId})
        ORDER BY r.created_at, r.id, r.version LIMIT ${pageSize}`,
    );
    const sound = await genuine(seals, rows);
    if (sound.length > 0) await appendLeaves(tx, seals, accountId, sound.map(leafOf));
    const last = rows.at(-1);
    return {
      next: last === undefined || rows.length < pageSize ? null : last,
      isGenuine: sound.length === rows.length,
    };
  }, patient);
}

const leafOf = ({ body, content_sha256, created_at, id, version }: LedgerRow): Leaf => ({
  receiptId: id,
  version,
  createdAt: created_at,
  hash: entryHash(body),
  contentSha256: defined(content_sha256, 'The digest of a genuine row'),
});

/** The hash of a receipt in the log. `body`: its JSON. */
export const entryHash = (body: string): string => leafHash(canonicalText(JSON.parse(body)));
