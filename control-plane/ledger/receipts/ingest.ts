/**
 * Carries finished receipts from the Redis stream into Postgres.
 *
 * Invariant: an entry leaves the stream only after its row is committed, or after it went to the dead letters because
 * no retry could mend it. Entries wait in Redis, never here: memory holds one batch, however long an outage lasts.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { deadLedgerStream, ledgerGroup, ledgerStream, receiptKey } from '@gw/contract/internal/redis';
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import { type Entry, streamGroup } from '../../shared/stream-group.ts';
import { parseEntry, type ReceiptRow } from './entry-row.ts';
import type { Seals } from './sealed-rows.ts';
import { insertReceipts, isRefusedData } from './store-batch.ts';

export interface IngesterOptions {
  readonly db: Database;
  /** A connection that nothing else uses, since it blocks while it waits for entries. */
  readonly redis: Redis;
  readonly log: Logger;
  readonly seals: Seals;
  /** The name under which this instance reads the stream; unique among all instances. */
  readonly consumer: string;
  /** How long a consumer has to be silent before its entries are taken over. */
  readonly abandonedAfterMs?: number;
}

export interface Ingester {
  /** Resolves after the batch under way. */
  stop(): Promise<void>;
}

const ledger = streamGroup({ stream: ledgerStream, group: ledgerGroup, field: 'entry' });
const batchSize = 500;
const waitForEntriesMs = 1000;
/** After a batch that was not full: lets entries gather, since a statement costs more than a row. */
const gatherMs = 200;
const firstRetryMs = 100;
const longestRetryMs = 5000;

/** Starts at once. Errors of either store are logged once, and tried again with pauses of up to 5 s. */
export function startIngester(options: IngesterOptions): Ingester {
  const { log, abandonedAfterMs = 30_000 } = options;
  const stopping = new AbortController();
  let retryMs = firstRetryMs;
  let claimAt = 0;

  /** Returns how many entries it finished. Own entries are those that this consumer read and could not finish. */
  const round = async (): Promise<number> => {
    if (Date.now() >= claimAt) {
      await ledger.ensure(options.redis);
      await ledger.claimAbandoned(options.redis, options.consumer, abandonedAfterMs, batchSize);
      claimAt = Date.now() + abandonedAfterMs / 3;
      ownMayExist = true;
    }
    if (ownMayExist) {
      const own = await ledger.readOwn(options.redis, options.consumer, batchSize);
      if (own.length > 0) {
        await finish(options, own);
        return own.length;
      }
      ownMayExist = false;
    }
    // From here until the batch is finished, a fault leaves entries behind under this consumer's name.
    ownMayExist = true;
    const entries = await ledger.readNew(options.redis, options.consumer, batchSize, waitForEntriesMs);
    if (entries.length > 0) await finish(options, entries);
    ownMayExist = false;
    return entries.length;
  };
  let ownMayExist = true;

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        const count = await round();
        if (retryMs > firstRetryMs) log.info('receipts are ingested again');
        retryMs = firstRetryMs;
        if (count > 0 && count < batchSize) await pause(gatherMs, stopping.signal);
      } catch (error) {
        if (retryMs === firstRetryMs && !stopping.signal.aborted)
          log.warn({ err: error }, 'receipts wait in the stream until both stores are back');
        ownMayExist = true;
        // Redis may have come back empty: then the group has to be made again.
        claimAt = 0;
        await pause(retryMs, stopping.signal);
        retryMs = Math.min(retryMs * 2, longestRetryMs);
      }
    }
  };
  const ended = run();
  return {
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}

const pause = (ms: number, signal: AbortSignal): Promise<void> => delay(ms, undefined, { signal }).catch(() => {});

/**
 * Commits a batch, then takes it out of Redis; the other order could lose receipts. The copies that answer for single
 * receipts go too, so that the memory of Redis is bounded by the backlog and not by an hour of traffic.
 */
async function finish({ db, redis, log, seals }: IngesterOptions, entries: readonly Entry[]): Promise<void> {
  const rows: { entry: Entry; row: ReceiptRow }[] = [];
  const dead: { entry: Entry; reason: string }[] = [];
  for (const entry of entries) {
    // Deleted from the stream while it was pending: nothing is left to store.
    if (entry.deleted) continue;
    const parsed = parseEntry(entry.text);
    if ('row' in parsed) rows.push({ entry, row: parsed.row });
    else dead.push({ entry, reason: parsed.poison });
  }
  const refused = await insertAll(db, rows, seals);
  dead.push(...refused);
  const ids = entries.map((entry) => entry.streamId);
  const transaction = redis.multi();
  for (const { entry, reason } of dead) {
    log.error({ entry: entry.streamId, reason }, 'a ledger entry cannot be ingested and was set aside');
    // Never trimmed: somebody has to look at each.
    transaction.xadd(deadLedgerStream, '*', 'entry', entry.text ?? '', 'reason', reason);
  }
  await transaction
    .xack(ledgerStream, ledgerGroup, ...ids)
    .xdel(ledgerStream, ...ids)
    .exec();
  // Postgres answers for these from now on. A key that stays behind expires by itself, so a fault here is not one.
  const copies = redis.pipeline();
  const kept = new Set(refused.map(({ entry }) => entry));
  for (const { entry, row } of rows) if (!kept.has(entry)) copies.unlink(receiptKey(row.id));
  await copies.exec().catch(() => {});
}

/** Returns the rows whose values Postgres refuses. They do not hold up the others. */
async function insertAll(
  db: Database,
  rows: readonly { entry: Entry; row: ReceiptRow }[],
  seals: Seals,
): Promise<{ entry: Entry; reason: string }[]> {
  if (rows.length === 0) return [];
  try {
    await insertReceipts(
      db,
      rows.map(({ row }) => row),
      seals,
    );
    return [];
  } catch (error) {
    if (!isRefusedData(error)) throw error;
    const [only] = rows;
    if (rows.length === 1 && only) return [{ entry: only.entry, reason: 'the database refuses its values' }];
    const middle = Math.ceil(rows.length / 2);
    const first = await insertAll(db, rows.slice(0, middle), seals);
    return [...first, ...(await insertAll(db, rows.slice(middle), seals))];
  }
}
