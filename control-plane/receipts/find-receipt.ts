/**
 * One receipt by its id: from Redis while it is new, from Postgres for ever.
 *
 * Invariant: a copy in Redis, which is always of the first version, never hides a later version that Postgres has.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { receiptKey } from '@gw/contract/internal/redis';
import type { Context } from '../context.ts';
import { messageOf } from '../repeat.ts';
import { timeOfReceipt } from './receipt-id.ts';

export interface FoundReceipt {
  /** The receipt as JSON, in the text that the client saw. */
  readonly json: string;
  readonly pending: boolean;
  /** What the numbers were made from, as JSON; `null` as text where there was nothing. */
  readonly facts: string;
}

/** A copy that may be outdated is served all the same if Postgres has not answered by then. */
const newerBoundMs = 300;

interface StoredReceipt extends FoundReceipt {
  readonly version: number;
}

interface StoredEntry {
  readonly accountId: string;
  readonly receipt: { readonly version: number; readonly status: string };
  readonly facts?: unknown;
}

/**
 * Null if there is none, or if it is another account's. Without a version: the newest.
 * Throws if Redis could not be asked and Postgres has nothing: then nobody knows.
 */
export async function findReceipt(
  context: Context,
  accountId: string,
  id: string,
  version: number | undefined,
): Promise<FoundReceipt | null> {
  const createdAt = timeOfReceipt(id);
  if (createdAt === null) return null;
  let redisFault: unknown = null;
  const text = await context.redis.get(receiptKey(id)).catch((fault: unknown) => {
    // Fails open: what Postgres has is as true.
    context.log.warn({ fault: messageOf(fault) }, 'Redis was not asked for a receipt');
    redisFault = fault;
    return null;
  });
  if (text !== null) {
    const entry = JSON.parse(text) as StoredEntry;
    if (entry.accountId !== accountId) return null;
    if (version === undefined || entry.receipt.version === version) {
      const pending = entry.receipt.status === 'pending';
      const newer =
        version === undefined && !pending ? await newerThan(context, accountId, id, createdAt, entry) : null;
      return newer ?? { json: JSON.stringify(entry.receipt), pending, facts: JSON.stringify(entry.facts ?? null) };
    }
  }
  const stored = await readStored(context, accountId, id, createdAt, version);
  if (stored === null && redisFault !== null) throw redisFault;
  return stored;
}

async function newerThan(
  context: Context,
  accountId: string,
  id: string,
  createdAt: Date,
  { receipt }: StoredEntry,
): Promise<StoredReceipt | null> {
  // Fails open: without Postgres, or if it stands still, what Redis has is the best that is known.
  const stored = await Promise.race([
    readStored(context, accountId, id, createdAt, undefined).catch(() => null),
    delay(newerBoundMs, null, { ref: false }),
  ]);
  return stored !== null && stored.version > receipt.version ? stored : null;
}

async function readStored(
  { db }: Context,
  accountId: string,
  id: string,
  createdAt: Date,
  version: number | undefined,
): Promise<StoredReceipt | null> {
  const rows = await db.$queryRaw<{ version: number; json: string; facts: string | null }[]>`
    SELECT version, body::text AS json, facts::text AS facts FROM receipts
    WHERE id = ${id} AND created_at = ${createdAt} AND account_id = ${accountId}
      AND (${version ?? null}::int IS NULL OR version = ${version ?? null}::int)
    ORDER BY version DESC LIMIT 1`;
  const [row] = rows;
  return row ? { ...row, pending: false, facts: row.facts ?? 'null' } : null;
}
