/**
 * One receipt by its id: from Redis while it is new, then from Postgres, and from the archive once its month has left.
 *
 * Invariant: a copy in Redis, which is always of the first version, never hides a later version that Postgres has, and one that stands in
 * for a receipt (a call under way, or closed) nothing that Postgres has. What
 * Postgres has is given only if it is genuine. If the newest version is not, the newest that is takes its place, and the reply says so: else
 * whoever can add a version without a seal would hide the receipt. What Redis has is given only if a sidecar has sealed it for this id.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { elementAt } from '@gw/contract/internal/defined';
import { ledgerStream, receiptKey } from '@gw/contract/internal/redis';
import type { OpenedEntry } from '@gw/contract/internal/sealed-entry';
import { Prisma } from '@gw/prisma/client';
import type { Context } from '../../shared/context.ts';
import { ArchiveBrokenError } from './archive-files.ts';
import { archivedVersions } from './archived-rows.ts';
import type { Entries } from './entries.ts';
import { refusalOf } from './entry-row.ts';
import { genuineBefore } from './older-version.ts';
import { readRows, storedColumns } from './read-rows.ts';
import { timeOfReceipt } from './receipt-id.ts';
import type { StoredFacts } from './revision.ts';
import { type LedgerFault, type LedgerRow, parsedColumn } from './seal.ts';
import type { Seals } from './sealed-rows.ts';
import { type PartFault, wholeFacts } from './whole-facts.ts';

/** A receipt that is genuine, or `pending` while its call is under way. */
export interface FoundReceipt {
  /** The receipt as JSON, in the text that the client saw. */
  readonly json: string;
  readonly pending: boolean;
  /** Newer versions, which are not what the gateway has stored. */
  readonly altered: readonly number[];
  /** The routing trace; null if there is none. */
  readonly routingTrace: unknown;
  /** Reads what the numbers were made from; null if there was nothing. */
  readonly readFacts: () => Promise<{ readonly facts: StoredFacts | null } | NotGenuine>;
}

/** It is there, but is not what the gateway has stored. */
export interface NotGenuine {
  readonly fault: 'archive altered' | LedgerFault | PartFault;
}

/** How long Postgres is waited for before the copy in Redis is served, even if it can be outdated. */
const newerBoundMs = 300;

interface StoredReceipt extends FoundReceipt {
  readonly version: number;
}

interface ReceiptStores extends Pick<Context, 'db' | 'log' | 'objects' | 'redis'> {
  readonly seals: Seals;
  readonly entries: Entries;
}

/**
 * Returns null if the account has no such receipt. Without a version it returns the newest one. Throws if Redis could
 * not be asked and Postgres has nothing, since it is not known then whether there is one.
 */
export async function findReceipt(
  stores: ReceiptStores,
  accountId: string,
  id: string,
  version: number | undefined,
): Promise<FoundReceipt | NotGenuine | null> {
  const createdAt = timeOfReceipt(id);
  if (createdAt === null) return null;
  let redisError: unknown = null;
  const entry = await entryInRedis(stores, id).catch((error: unknown) => {
    // Fails open: what Postgres has is as true.
    stores.log.warn({ err: error }, 'Redis could not be asked for a receipt');
    redisError = error;
    return null;
  });
  if (entry !== null) {
    if (entry.account_id !== accountId) return null;
    if (version === undefined || entry.version === version)
      return (await storedBefore(stores, entry, createdAt, version)) ?? foundIn(entry);
  }
  const stored = await readStored(stores, accountId, id, createdAt, version);
  if (stored === null && redisError !== null) throw redisError;
  return stored;
}

/** Whether it is the id of an entry in the stream, and not an entry. */
export const isPlace = (value: Buffer): boolean => value.length < 64 && /^\d+-\d+$/.test(value.toString('latin1'));

/** Returns null if there is none, or none that a sidecar has sealed for this receipt. */
async function entryInRedis({ entries, log, redis }: ReceiptStores, id: string): Promise<OpenedEntry | null> {
  const value = await redis.getBuffer(receiptKey(id));
  const bytes = value !== null && isPlace(value) ? await entryAt(redis, value.toString()) : value;
  if (bytes === null) return null;
  const opened = entries.opener.open(bytes);
  if ('entry' in opened && opened.entry.id === id) return opened.entry;
  entries.refused('fault' in opened ? refusalOf[opened.fault] : 'contradiction');
  log.error({ receiptId: id }, 'what Redis has under the id of a receipt is not what a sidecar has written for it');
  return null;
}

/** Null: it was ingested meanwhile, so Postgres has it. */
async function entryAt(redis: Context['redis'], streamId: string): Promise<Buffer | null> {
  const [found] = await redis.xrangeBuffer(ledgerStream, streamId, streamId);
  return found?.[1]?.[1] ?? null;
}

function foundIn({ facts, receipt, state, trace }: OpenedEntry): FoundReceipt {
  const pending = state === 'pending';
  return {
    // The receipt that it gets if nobody finishes it.
    json: pending ? JSON.stringify({ ...JSON.parse(receipt), status: 'pending' }) : receipt,
    pending,
    altered: [],
    routingTrace: parsedColumn(trace),
    readFacts: async () => ({ facts: parsedColumn(facts) as StoredFacts | null }),
  };
}

/** Entries that say how a call has ended. Any other one stands in for them, and somebody with Redis can have put it back. */
const isFinal = ({ state }: OpenedEntry): boolean => state === 'made' || state === 'shown';

/** Returns what Postgres has that goes before an entry in Redis; null if there is nothing. */
async function storedBefore(
  stores: ReceiptStores,
  entry: OpenedEntry,
  createdAt: Date,
  wanted: number | undefined,
): Promise<StoredReceipt | NotGenuine | null> {
  if (isFinal(entry) && wanted !== undefined) return null;
  // Fails open: without Postgres, or if it stands still, what Redis has is the best that is known. Fails closed where
  // Postgres has what is not genuine: which version is the newest is then not known.
  const stored = await Promise.race([
    readStored(stores, entry.account_id, entry.id, createdAt, wanted).catch(() => null),
    delay(newerBoundMs, null, { ref: false }),
  ]);
  if (stored === null || 'fault' in stored || stored.altered.length > 0) return stored;
  return !isFinal(entry) || stored.version > entry.version ? stored : null;
}

/** From Postgres, or, if its month has left, from the archive. Throws if that does not answer: then it is not known whether there is one. */
async function readStored(
  stores: ReceiptStores,
  accountId: string,
  id: string,
  createdAt: Date,
  version: number | undefined,
): Promise<StoredReceipt | NotGenuine | null> {
  const { db, seals } = stores;
  const [newest] = await readRows(
    db,
    Prisma.sql`
    SELECT ${storedColumns} FROM receipts r
    WHERE r.id = ${id} AND r.created_at = ${createdAt} AND r.account_id = ${accountId}
      AND (${version ?? null}::int IS NULL OR r.version = ${version ?? null}::int)
    ORDER BY r.version DESC LIMIT 1`,
  );
  if (newest === undefined) return readArchived(stores, accountId, id, version);
  const [fault] = await seals.check([newest]);
  const older = fault && version === undefined ? await genuineBefore({ db, seals }, newest) : null;
  const row = older?.row ?? newest;
  if (fault && older === null) return { fault };
  return storedIn(stores, row, older?.altered ?? []);
}

async function readArchived(
  stores: ReceiptStores,
  accountId: string,
  id: string,
  version: number | undefined,
): Promise<StoredReceipt | NotGenuine | null> {
  const all = await archivedVersions(stores, accountId, id).catch((error: unknown) => {
    if (!(error instanceof ArchiveBrokenError)) throw error;
    stores.log.error({ receiptId: id, err: error }, 'a receipt cannot be read from the archive');
    return 'broken' as const;
  });
  if (all === 'broken') return { fault: 'archive altered' };
  const versions = all.filter((row) => version === undefined || row.version === version).toReversed();
  const faults = await stores.seals.check(versions);
  const [newest, fault] = [versions[0], faults[0]];
  if (newest === undefined) return null;
  const at = faults.indexOf(null);
  const row = versions[at];
  if (row === undefined) return { fault: fault ?? 'altered' };
  return storedIn(
    stores,
    row,
    versions.slice(0, at).map((each) => each.version),
  );
}

function storedIn({ db, seals }: ReceiptStores, row: LedgerRow, altered: readonly number[]): StoredReceipt {
  // Closed: a part of its facts that is not genuine is a fault of the lineage, and not of the receipt.
  const readFacts = async () => elementAt(await wholeFacts({ db, seals }, [row]), 0);
  const routingTrace = parsedColumn(row.routing_trace);
  return {
    version: row.version,
    json: row.body,
    pending: false,
    altered,
    routingTrace,
    readFacts,
  };
}
