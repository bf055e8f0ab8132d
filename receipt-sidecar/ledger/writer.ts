/**
 * Writes receipts behind the reply: into the ledger's Redis stream, or onto disk while Redis is away.
 *
 * Invariants: a receipt whose id a client has seen is never lost by one fault: it is in Redis before the reply goes
 * out, or in the spool. A reply waits for both together no longer than one bound. What neither took in time is given
 * up, the client is told so in a degraded receipt, and that one, kept in memory until a store takes it, is what the
 * ledger holds in the end. What is in Redis alone is kept in memory too until Postgres has it (in-stream.ts), so an emptied
 * Redis loses none; Redis emptied and this process killed at once are two faults.
 */
import { ledgerProbeKey, ledgerStream, pendingReceiptsKey, receiptKey, receiptTtlS } from '@gw/contract/internal/redis';
import { openKept } from '@gw/service/kept';
import type { Logger } from '@gw/service/log';
import type { Command, RedisWriter } from '@gw/service/redis-writer';
import type { Redis } from 'ioredis';
import { boundedWrites, type Patience, succeedsWithin } from '../wire/bounded.ts';
import { openInStream, type StreamCounts } from './in-stream.ts';
import { openPendingReceipts } from './pending.ts';
import type { Spool } from './spool.ts';

export interface LedgerCounts extends StreamCounts {
  /** Receipts that no store has yet, and those that were lost because there was no room for them. */
  readonly kept: number;
  readonly lost: number;
  /** Whether receipts go to the spool since too many wait in Redis. */
  readonly full: boolean;
}

export interface LedgerWriter {
  /** Stores a pending receipt: if this process dies, the control plane closes it as degraded. It waits for nothing. */
  begin(receiptId: string, entry: string): void;
  /** Takes back the pending receipt of a call that reached no provider. */
  discard(receiptId: string): void;
  /** Stores a finished receipt. Resolves to whether it is safe, after some 250 ms at the latest. Never rejects. */
  finish(receiptId: string, entry: string): Promise<boolean>;
  /** Keeps in memory what the ledger has to hold after `finish` gave up, until a store takes it. */
  keep(receiptId: string, entry: string): void;
  counts(): LedgerCounts;
  stop(): Promise<void>;
}

export interface LedgerWriterOptions {
  /** For what each call writes, in the order in which it is written. */
  readonly writes: Pick<RedisWriter, 'isReady' | 'send'>;
  /** For looks at the stream. */
  readonly redis: Redis;
  readonly spool: Spool;
  /** By the clock of Redis, ms since 1970: another process judges by it whether a lease is over. */
  readonly now: () => number;
  /** From this length of the stream on receipts go to the spool, until it has half of that. */
  readonly maxStreamLength: number;
  readonly log: Logger;
}

/**
 * A reply waits this long for Redis and the spool together; the spool has what Redis leaves of it. A store that hangs
 * costs that once: nobody waits for it again until it answers. With less, stores that only share busy processors count
 * as lost.
 */
const patienceMs = 250;
const redisBoundMs = 150;
const tendEveryMs = 1000;
/** An orderly end waits so long for a disk that may hang. */
const lastTendMs = 5000;
/** While Redis is away it is asked this often whether it is back. */
const probeEveryMs = 100;
const replayBatch = 200;
/** What waits in memory at most, some 16,000 receipts: characters of what no store has, and bytes of what Redis has alone. */
const maxKeptChars = 64 * 1024 * 1024;
const maxInStreamBytes = 64 * 1024 * 1024;

/** Null for an object that is no entry, as only a damaged spool can hold it. */
const idOf = (entry: string): string | null => (JSON.parse(entry) as { receipt?: { id?: string } }).receipt?.id ?? null;
const isShown = (entry: string): boolean => entry.endsWith('"shown":true}');
const notShown = ' not shown';
/** What was shown to a client does not give way to what was not: the ledger gets both, and makes one of them. */
const keptAs = (receiptId: string, entry: string): string => (isShown(entry) ? receiptId : receiptId + notShown);

class StreamFull extends Error {}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: short functions over one state: what is under way, away, spooled and kept.
export function openLedgerWriter({
  writes,
  redis,
  spool,
  now,
  maxStreamLength,
  log,
}: LedgerWriterOptions): LedgerWriter {
  let spooled = true; // An earlier process may have left something.
  /** True after Redis did not take a receipt in time: no other one waits for it until it answers again. */
  let away = false;
  /** True while nobody ingests and the stream is as long as it may be. */
  let full = false;
  const disk = boundedWrites();
  /** Whether the disk has refused the last write. */
  let refused = false;
  const kept = openKept(maxKeptChars);
  /** Ids whose clients were shown another receipt than the one that was made, which can still arrive late on disk. */
  const givenUp = new Set<string>();

  const pending = openPendingReceipts({ writes, now, isAway: () => away });

  const toStream = (entry: string, ...more: readonly Command[]) =>
    writes.send(['XADD', ledgerStream, '*', 'entry', entry], ...more).then(([streamId]) => {
      if (typeof streamId === 'string') inStream.added(streamId, entry);
    });
  // The stream comes first: what is refused after it is there all the same.
  const toRedis = (receiptId: string, entry: string) =>
    toStream(
      entry,
      ['SET', receiptKey(receiptId), entry, 'EX', String(receiptTtlS)],
      ['ZREM', pendingReceiptsKey, receiptId],
    );
  /** What has no id is not dropped: the ingester sets it aside, for a human. */
  const bringToRedis = (entry: string): Promise<unknown> => {
    const receiptId = idOf(entry);
    return receiptId === null ? toStream(entry) : toRedis(receiptId, entry);
  };
  const inStream = openInStream({
    redis,
    stream: ledgerStream,
    maxBytes: maxInStreamBytes,
    put: bringToRedis,
    onDoubt: pending.markAll,
    log,
  });

  const takenByRedis = async (receiptId: string, entry: string, patience: Patience): Promise<boolean> => {
    if (away || full) return false;
    if (await succeedsWithin(toRedis(receiptId, entry), patience, redisBoundMs)) return true;
    if (!away) log.warn('Redis does not take receipts in time; they go to the spool');
    away = true;
    return false;
  };

  const append = async (entry: string): Promise<void> => {
    try {
      await spool.append(entry);
      spooled = true;
      refused = false;
    } catch (error) {
      // One line for an outage, not one for each receipt.
      if (!refused) log.warn({ err: error }, 'the spool does not take receipts');
      refused = true;
      throw error;
    }
  };
  const takenBySpool = (entry: string, patience: Patience): Promise<boolean> =>
    disk.attempt(() => append(entry), patience);

  const taken = async (receiptId: string, entry: string): Promise<boolean> => {
    const patience = { leftMs: patienceMs };
    if (await takenByRedis(receiptId, entry, patience)) return true;
    // It has ended: the control plane, which may be there, must not close it as one of a dead sidecar.
    if (full && !away) pending.unmark(receiptId);
    return takenBySpool(entry, patience);
  };

  const lookAtStream = async (): Promise<void> => {
    if (away || redis.status !== 'ready') return;
    await inStream.tend().catch(() => undefined);
    const { length } = inStream.counts();
    if (!full && length >= maxStreamLength)
      log.error({ length }, 'as many receipts as may be wait in Redis for Postgres; further ones go to the spool');
    if (full && length < maxStreamLength / 2) log.info({ length }, 'receipts go to Redis again');
    full = full ? length >= maxStreamLength / 2 : length >= maxStreamLength;
  };
  let looking: Promise<void> | null = null;
  const look = (): Promise<void> => {
    looking ??= lookAtStream().finally(() => {
      looking = null;
    });
    return looking;
  };

  const replay = async (): Promise<void> => {
    if (!spooled || away || full || disk.hanging() || !writes.isReady()) return;
    spooled = false;
    try {
      const count = await spool.replay(async (entries) => {
        // A file at a time, so that what waits there does not fill the stream.
        await look();
        if (full) throw new StreamFull();
        const theirs = entries.filter((entry) => isShown(entry) || !givenUp.has(idOf(entry) ?? ''));
        for (let at = 0; at < theirs.length; at += replayBatch) {
          await Promise.all(theirs.slice(at, at + replayBatch).map(bringToRedis)).catch((error: unknown) => {
            away = true;
            throw error;
          });
        }
      });
      if (count > 0) log.info({ count }, 'receipts from the spool are in the ledger');
    } catch (error) {
      spooled = true;
      if (!(error instanceof StreamFull)) log.warn({ err: error }, 'the spool could not be replayed; it stays');
    }
  };

  const bringHome = async (): Promise<void> => {
    const count = await kept.hand((as, entry) => taken(as.replace(notShown, ''), entry));
    if (count > 0) log.info({ count }, 'receipts that waited in memory are stored');
    // Afterwards, since a hung disk holds it up.
    await replay();
    if (kept.size === 0 && !disk.hanging() && !spooled) givenUp.clear();
  };
  let bringing: Promise<void> | null = null;
  const tend = (): Promise<void> => {
    bringing ??= bringHome().finally(() => {
      bringing = null;
    });
    return bringing;
  };
  const probe = async (): Promise<void> => {
    if (!away || !writes.isReady()) return;
    // A write, as patient as one: a Redis that is slow, or full, would else be tried, and given up, again and again.
    const asked = writes.send(['SET', ledgerProbeKey, '', 'PX', String(redisBoundMs)]);
    if (!(await succeedsWithin(asked, { leftMs: redisBoundMs }))) return;
    log.info('receipts go to Redis again');
    away = false;
    // Those that began meanwhile were marked nowhere.
    pending.markAll();
    await tend();
  };
  const timers = [
    // By itself, since a disk that hangs holds up the other.
    setInterval(() => void look(), tendEveryMs),
    setInterval(() => void tend(), tendEveryMs),
    setInterval(() => void probe(), probeEveryMs),
  ];

  return {
    begin(receiptId, entry) {
      pending.add(receiptId, entry);
    },
    discard(receiptId) {
      pending.remove(receiptId);
      pending.unmark(receiptId);
    },
    finish(receiptId, entry) {
      pending.remove(receiptId);
      return taken(receiptId, entry);
    },
    keep(receiptId, entry) {
      if (kept.size === 0) log.warn('neither Redis nor the spool takes receipts in time; they wait in memory');
      if (!kept.add(keptAs(receiptId, entry), entry))
        log.error({ receiptId }, 'a receipt could not be stored anywhere');
      else if (isShown(entry)) givenUp.add(receiptId);
    },
    counts: () => ({ kept: kept.size, lost: kept.lost, full, ...inStream.counts() }),
    async stop() {
      for (const timer of timers) clearInterval(timer);
      pending.stop();
      await succeedsWithin(Promise.all([look(), tend()]), { leftMs: lastTendMs });
    },
  };
}
