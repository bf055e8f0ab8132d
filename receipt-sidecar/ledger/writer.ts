/**
 * Writes finished receipts to the ledger's Redis stream, or to disk while Redis is unavailable.
 *
 * Invariants: a receipt whose id a client has seen is never lost by a single fault: it is in Redis or in the spool before the reply goes out. A
 * reply waits for both together no longer than one bound. A receipt that neither took in time is given up; the client gets a degraded one
 * instead, which is kept in memory until a store takes it, and which the ledger holds in the end. Receipts that only Redis has are kept in
 * memory too until Postgres has them (in-stream.ts), so an emptied Redis loses none; Redis emptied and this process killed are two faults. They
 * stay for a while after that, for a Postgres that goes back in time (committed.ts).
 */
import { ledgerProbeKey, ledgerStream } from '@gw/contract/internal/redis';
import { isShown, receiptIdOf } from '@gw/contract/internal/sealed-entry';
import { appendingTo, appendScript } from '@gw/service/append-entry';
import { openKept } from '@gw/service/kept';
import type { Logger } from '@gw/service/log';
import { oneAtATime } from '@gw/service/one-at-a-time';
import { redisScript } from '@gw/service/redis-script';
import type { RedisWriter, Reply } from '@gw/service/redis-writer';
import type { Redis } from 'ioredis';
import { boundedWrites, type Patience, succeedsWithin } from '../wire/bounded.ts';
import { type CommittedCounts, openCommitted } from './committed.ts';
import { openInStream, type StreamCounts } from './in-stream.ts';
import { openPendingReceipts } from './pending.ts';
import type { Spool } from './spool.ts';

export interface LedgerCounts extends StreamCounts, CommittedCounts {
  /** Receipts in memory that no store has yet. */
  readonly kept: number;
  /** Receipts that were lost because memory had no space for them. */
  readonly lost: number;
  /** Whether receipts go to the spool because too many wait in Redis. */
  readonly full: boolean;
}

export interface LedgerWriter {
  /** Stores a pending receipt, without waiting: if this process dies, the control plane closes it as degraded. */
  begin(receiptId: string, entry: Buffer): void;
  /** Removes the pending receipt of a call that reached no provider. */
  discard(receiptId: string): void;
  /** Stores a finished receipt. Resolves to whether it is safe, after about 250 ms at the latest. Never rejects. */
  finish(receiptId: string, entry: Buffer): Promise<boolean>;
  /** Keeps in memory the receipt that the client was shown after `finish` gave up, until a store takes it. */
  keep(receiptId: string, entry: Buffer): void;
  counts(): LedgerCounts;
  stop(): Promise<void>;
}

export interface LedgerWriterOptions {
  /** Writes the commands of each call, in order. */
  readonly writes: Pick<RedisWriter, 'isReady' | 'send'>;
  /** The connection for the alarm; that it is ready again means that Redis may have lost data. */
  readonly redis: Redis;
  readonly spool: Spool;
  /** The clock of Redis, ms since 1970, by which another process judges whether a lease has ended. */
  readonly now: () => number;
  /** From this length of the stream on, receipts go to the spool until it has shrunk to half of that. */
  readonly maxStreamLength: number;
  /** How long receipts are kept after Postgres has committed them, ms. */
  readonly keepMs: number;
  readonly log: Logger;
}

/**
 * How long a reply waits for Redis and the spool together; the spool gets the time that Redis leaves. A hanging store costs this once, since
 * no reply waits for it again until it answers. With a shorter wait, stores on busy processors would count as unavailable.
 */
const patienceMs = 250;
const redisBoundMs = 150;
const tendEveryMs = 1000;
/** How long an orderly shutdown waits for a disk that may hang. */
const lastTendMs = 5000;
/** How often Redis is probed while it is unavailable. */
const probeEveryMs = 100;
const replayBatch = 200;
/** Bounds the receipts in memory that no store has, some 16,000. */
const maxKeptBytes = 64 * 1024 * 1024;
/** Bounds the receipts in memory that only Redis has. */
const maxInStreamBytes = 64 * 1024 * 1024;
/** Bounds the receipts in memory that Postgres has. */
const maxCommittedBytes = 64 * 1024 * 1024;

const first = ([reply]: readonly Reply[]): Reply | undefined => reply;
const notShown = ' not shown';
/** A receipt that a client was shown does not replace one that was not: the ledger gets both and merges them. */
const keptAs = (receiptId: string, entry: Buffer): string => (isShown(entry) ? receiptId : receiptId + notShown);

class StreamFull extends Error {}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: short functions that share the state of the stores.
export function openLedgerWriter({
  writes,
  redis,
  spool,
  now,
  maxStreamLength,
  keepMs,
  log,
}: LedgerWriterOptions): LedgerWriter {
  let spooled = true; // An earlier process may have left receipts.
  /** Set when Redis did not take a receipt in time: none waits for it until it answers again. */
  let away = false;
  /** Set while the stream is at its maximum length because nothing ingests it. */
  let full = false;
  const disk = boundedWrites();
  let diskRefused = false;
  const kept = openKept(maxKeptBytes);
  /** Ids of receipts that were given up but can still reach the disk late; their clients were shown another receipt. */
  const givenUp = new Set<string | null>();
  const pending = openPendingReceipts({ writes, now, isAway: () => away });

  const append = redisScript(writes, appendScript);
  const added = (entry: Buffer) => (streamId: unknown) => {
    if (typeof streamId === 'string') inStream.added(streamId, entry);
  };
  const toRedis = (receiptId: string, entry: Buffer) => append(...appendingTo(receiptId, entry)).then(added(entry));
  /** Bytes that are no entry, which only an altered spool can hold, are not dropped: the ingester sets them aside for a human. */
  const toStream = (entry: Buffer): Promise<unknown> => {
    const receiptId = receiptIdOf(entry);
    if (receiptId !== null) return append(...appendingTo(receiptId, entry));
    return writes.send(['XADD', ledgerStream, '*', 'entry', entry]).then(first);
  };
  const bringToRedis = (entry: Buffer): Promise<unknown> => toStream(entry).then(added(entry));
  const committed = openCommitted({
    redis,
    maxBytes: maxCommittedBytes,
    keepMs,
    clock: () => performance.now(),
    put: toStream,
    room: () => (full ? 0 : maxStreamLength - inStream.counts().length),
    log,
  });
  const inStream = openInStream({
    redis: {
      // As many steps behind its reply as what `added` hears, so that both are heard in the order of the replies.
      eval: (script, keys, ...rest) => writes.send(['EVAL', script, String(keys), ...rest]).then(first),
      on: (event, heard) => redis.on(event, heard),
    },
    stream: ledgerStream,
    maxBytes: maxInStreamBytes,
    put: bringToRedis,
    onRead: committed.add,
    onDoubt: pending.markAll,
    log,
  });

  const takenByRedis = async (receiptId: string, entry: Buffer, patience: Patience): Promise<boolean> => {
    if (away || full) return false;
    if (await succeedsWithin(toRedis(receiptId, entry), patience, redisBoundMs)) return true;
    if (!away) log.warn('Redis does not take receipts in time; they go to the spool');
    away = true;
    return false;
  };

  const toSpool = async (entry: Buffer): Promise<void> => {
    try {
      await spool.append(entry);
      spooled = true;
      diskRefused = false;
    } catch (error) {
      // Logged once for each outage.
      if (!diskRefused) log.warn({ err: error }, 'the spool does not take receipts');
      diskRefused = true;
      throw error;
    }
  };

  const taken = async (receiptId: string, entry: Buffer): Promise<boolean> => {
    const patience = { leftMs: patienceMs };
    if (await takenByRedis(receiptId, entry, patience)) return true;
    // The call has ended, so the control plane must not close its receipt as that of a dead sidecar.
    if (full && !away) pending.unmark(receiptId);
    return disk.attempt(() => toSpool(entry), patience);
  };

  const checkStream = async (): Promise<void> => {
    if (away || !writes.isReady()) return;
    // An alarm counts as seen only after the receipts that were read have come to the committed ones.
    await inStream
      .tend()
      .then(committed.tend)
      .catch(() => undefined);
    const { length } = inStream.counts();
    if (!full && length >= maxStreamLength)
      log.error({ length }, 'as many receipts as may be wait in Redis for Postgres; further ones go to the spool');
    if (full && length < maxStreamLength / 2) log.info({ length }, 'receipts go to Redis again');
    full = full ? length >= maxStreamLength / 2 : length >= maxStreamLength;
  };
  const check = oneAtATime(checkStream);

  const replay = async (): Promise<void> => {
    if (!spooled || away || full || disk.hanging() || !writes.isReady()) return;
    spooled = false;
    try {
      const count = await spool.replay(async (entries) => {
        // Checked before each file, so that the replay does not overfill the stream.
        await check();
        if (full) throw new StreamFull();
        const theirs = entries.filter((entry) => isShown(entry) || !givenUp.has(receiptIdOf(entry)));
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
    // The replay comes last, since a hanging disk blocks it.
    await replay();
    if (kept.size === 0 && !disk.hanging() && !spooled) givenUp.clear();
  };
  const tend = oneAtATime(bringHome);
  const probe = async (): Promise<void> => {
    if (!away || !writes.isReady()) return;
    // The probe is a write with the patience of a write: otherwise a slow or full Redis would be tried and given up again and again.
    const asked = writes.send(['SET', ledgerProbeKey, '', 'PX', String(redisBoundMs)]);
    if (!(await succeedsWithin(asked, { leftMs: redisBoundMs }))) return;
    log.info('receipts go to Redis again');
    away = false;
    // Receipts that began meanwhile are not marked yet.
    pending.markAll();
    await tend();
  };
  const timers = [
    // A separate timer, since a hanging disk blocks `tend`.
    setInterval(() => void check(), tendEveryMs),
    setInterval(() => void tend(), tendEveryMs),
    setInterval(() => void probe(), probeEveryMs),
  ];

  return {
    begin: pending.add,
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
    counts: () => ({ kept: kept.size, lost: kept.lost, full, ...inStream.counts(), ...committed.counts() }),
    async stop() {
      for (const timer of timers) clearInterval(timer);
      pending.stop();
      await succeedsWithin(Promise.all([check(), tend()]), { leftMs: lastTendMs });
    },
  };
}
