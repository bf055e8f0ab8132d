/**
 * Carries finished receipts from the Redis stream into Postgres.
 *
 * Invariant: an entry becomes a row only if a sidecar has sealed it, and its numbers follow from its facts. It leaves the stream only after its row is committed, or after it went to the dead letters because
 * no retry could mend it. Entries wait in Redis, never here: memory holds one batch, however long an outage lasts. A
 * Redis whose memory is full is read and emptied all the same.
 */
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { errorText } from '@gw/contract/internal/error-text';
import { WrittenOtherwiseError } from '@gw/contract/internal/ledger-entry';
import { deadLedgerStream, ledgerGroup, ledgerStream, receiptKey, receiptTtlS } from '@gw/contract/internal/redis';
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import { type DeadEntry, type Entry, isOutOfMemory, streamGroup } from '../../shared/stream-group.ts';
import { pinHeads } from './batches.ts';
import { contradictionOf } from './contradiction.ts';
import { CopyLines } from './copy-lines.ts';
import type { Entries } from './entries.ts';
import { type Poison, parseEntry, type ReceiptRow } from './entry-row.ts';
import { keepOrphans } from './orphans.ts';
import type { Seals } from './sealed-rows.ts';
import { insertReceipts, type ReadyRow, readyRow, refusalOf } from './store-batch.ts';
import { type Estimated, storeEstimates } from './store-estimates.ts';

export interface IngesterOptions {
  readonly db: Database;
  /** A connection that nothing else uses, since it blocks while it waits for entries. */
  readonly redis: Redis;
  readonly log: Logger;
  readonly seals: Seals;
  readonly entries: Entries;
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
/** Entries that are read at once, in a few milliseconds; then requests to this process get their turn. */
const pieceSize = 25;
/** After a batch that was not full: lets entries gather, since a statement costs more than a row. */
const gatherMs = 200;
const firstRetryMs = 100;
const longestRetryMs = 5000;

/** Starts at once. Errors of either store are logged once, and tried again with pauses of up to 5 s. */
export function startIngester(given: IngesterOptions): Ingester {
  const options = { ...given, lines: new CopyLines() };
  const { log, abandonedAfterMs = 30_000 } = options;
  const stopping = new AbortController();
  let retryMs = firstRetryMs;
  let claimAt = 0;

  // How far this consumer's own entries were looked through again, those that it read and could not finish; null: all.
  // Not from the first on each time, since what waits to be set aside stays among them.
  let ownAfter: string | null = '0';

  /** Returns how many entries it read. */
  const round = async (): Promise<number> => {
    if (Date.now() >= claimAt) {
      await ledger.ensure(options.redis);
      await ledger.claimAbandoned(options.redis, options.consumer, abandonedAfterMs, batchSize);
      claimAt = Date.now() + abandonedAfterMs / 3;
      ownAfter = '0';
    }
    if (ownAfter !== null) {
      const own = await ledger.readOwn(options.redis, options.consumer, batchSize, ownAfter);
      await finish(options, own);
      ownAfter = own.at(-1)?.streamId ?? null;
      if (own.length > 0) return own.length;
    }
    const entries = await ledger.readNew(options.redis, options.consumer, batchSize, waitForEntriesMs);
    await finish(options, entries);
    return entries.length;
  };

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
        // The entries that were read stay pending under this consumer's name.
        ownAfter = '0';
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
async function finish(options: Batches, batch: readonly Entry[]): Promise<void> {
  if (batch.length === 0) return;
  const { db, entries, lines, redis, seals } = options;
  lines.clear();
  await seals.compressor.learn(db);
  const rows: ReadyEntry[] = [];
  const estimates: Estimated[] = [];
  const dead: Refused[] = [];
  const nowMs = Date.now();
  for (const [at, entry] of batch.entries()) {
    // Deleted from the stream while it was pending: nothing is left to store.
    if (entry.deleted) continue;
    if (at % pieceSize === pieceSize - 1) await setImmediate();
    const parsed = parseEntry(entry.bytes, entries);
    if ('poison' in parsed) {
      dead.push(deadOf(entry, parsed.poison));
      continue;
    }
    const { byEarlierKey, state, texts } = parsed;
    const contradiction = contradictionOf(parsed.row, { byEarlierKey, nowMs, written: texts.body });
    if (contradiction !== null) {
      dead.push(deadOf(entry, { refusal: 'contradiction', reason: contradiction }));
      continue;
    }
    const { account_id, created_at, id } = parsed.row;
    try {
      const row = readyRow(parsed, seals, lines, () => rowAgain(entry, entries));
      rows.push({ entry, row, isOrphan: state !== 'made' });
    } catch (error) {
      // Half of a pair of surrogates, for one: it has no canonical form, now or later. No store is asked here.
      const refused =
        error instanceof WrittenOtherwiseError
          ? deadOf(entry, { refusal: 'contradiction', reason: error.message })
          : refusedValues(entry, id, `it cannot be sealed: ${errorText(error)}`);
      dead.push(refused);
      continue;
    }
    if (parsed.estimate !== null) estimates.push({ row: { account_id, created_at, id }, estimate: parsed.estimate });
  }
  // First, so that no sum has a call without its estimate.
  await storeEstimates(db, estimates);
  const heads: string[] = [];
  dead.push(...(await insertAll(options, rows, heads)));
  await pinHeads(redis, heads);
  const stay = new Set(dead.map(({ streamId }) => streamId));
  const stored = rows.filter(({ entry }) => !stay.has(entry.streamId));
  await keepOrphans(redis, orphansIn(stored));
  // First, since it frees the memory that setting aside needs.
  await ledger.takeOut(
    redis,
    batch.map(({ streamId }) => streamId).filter((id) => !stay.has(id)),
  );
  // Postgres answers for these from now on. A key that stays behind expires by itself, so a fault here is not one.
  const places = redis.pipeline();
  if (stored.length > 0) places.unlink(stored.map(({ row }) => receiptKey(row.id)));
  // A genuine receipt that could not be stored stays readable for as long.
  for (const { bytes, id } of dead) if (id !== null) places.set(receiptKey(id), bytes, 'EX', receiptTtlS);
  await places.exec().catch(() => {});
  await setAside(options, dead);
}

/** One batch at a time is in `lines`. */
interface Batches extends IngesterOptions {
  readonly lines: CopyLines;
}

interface ReadyEntry {
  readonly entry: Entry;
  readonly row: ReadyRow;
  /** No sidecar that runs keeps it, so it is kept in Redis for a while. */
  readonly isOrphan: boolean;
}

const orphansIn = (rows: readonly ReadyEntry[]): Buffer[] =>
  rows.flatMap(({ entry: { bytes }, isOrphan }) => (isOrphan && bytes ? [bytes] : []));

/** The row of an entry that was read before. */
function rowAgain({ bytes }: Entry, entries: Entries): ReceiptRow {
  const parsed = parseEntry(bytes, entries);
  if ('poison' in parsed) throw new Error(`An entry is read in two ways: ${parsed.poison.reason}.`);
  return parsed.row;
}

/** `id`: of a receipt that is genuine; null if that is not known. */
interface Refused extends DeadEntry, Poison {
  readonly id: string | null;
}

const nothing = Buffer.alloc(0);
const deadOf = ({ bytes = nothing, streamId }: Entry, poison: Poison, id: string | null = null): Refused => ({
  streamId,
  bytes,
  id,
  ...poison,
});
const refusedValues = (entry: Entry, id: string, reason: string): Refused =>
  deadOf(entry, { refusal: 'refused_values', reason }, id);

/** Where Redis has no memory for them they stay pending, and are tried again with the next look for abandoned ones. */
async function setAside({ entries, redis, log }: IngesterOptions, dead: readonly Refused[]): Promise<void> {
  try {
    await ledger.setAside(redis, deadLedgerStream, dead);
  } catch (error) {
    if (!isOutOfMemory(error)) throw error;
    log.warn({ entries: dead.length }, 'ledger entries that cannot be ingested wait for memory in Redis');
    return;
  }
  for (const { streamId, reason, refusal } of dead) {
    entries.refused(refusal);
    log.error({ entry: streamId, refusal, reason }, 'a ledger entry cannot be ingested and was set aside');
  }
}

/** Returns the rows whose values Postgres refuses. They do not hold up the others. The heads of the batches are added to `heads`. */
async function insertAll(options: Batches, rows: readonly ReadyEntry[], heads: string[]): Promise<Refused[]> {
  if (rows.length === 0) return [];
  const { db, lines, seals } = options;
  try {
    const head = await insertReceipts(
      db,
      rows.map(({ row }) => row),
      seals,
      lines,
    );
    if (head !== null) heads.push(head);
    return [];
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === null) throw error;
    const [only] = rows;
    if (rows.length === 1 && only) return [refusedValues(only.entry, only.row.id, refusal)];
    const middle = Math.ceil(rows.length / 2);
    const first = await insertAll(options, rows.slice(0, middle), heads);
    return [...first, ...(await insertAll(options, rows.slice(middle), heads))];
  }
}
