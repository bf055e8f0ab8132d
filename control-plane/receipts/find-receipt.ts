/** One receipt by its id: from Redis while it is new, from Postgres for ever. */
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
    if (version === undefined || entry.receipt.version === version)
      return {
        json: JSON.stringify(entry.receipt),
        pending: entry.receipt.status === 'pending',
        facts: JSON.stringify(entry.facts ?? null),
      };
  }
  const stored = await readStored(context, accountId, id, createdAt, version);
  if (stored === null && redisFault !== null) throw redisFault;
  return stored;
}

async function readStored(
  { db }: Context,
  accountId: string,
  id: string,
  createdAt: Date,
  version: number | undefined,
): Promise<FoundReceipt | null> {
  const rows = await db.$queryRaw<{ json: string; facts: string | null }[]>`
    SELECT body::text AS json, facts::text AS facts FROM receipts
    WHERE id = ${id} AND created_at = ${createdAt} AND account_id = ${accountId}
      AND (${version ?? null}::int IS NULL OR version = ${version ?? null}::int)
    ORDER BY version DESC LIMIT 1`;
  return rows[0] ? { json: rows[0].json, pending: false, facts: rows[0].facts ?? 'null' } : null;
}
