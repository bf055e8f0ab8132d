/**
 * Hands what screening found to the audit log: over a Redis stream, or onto disk while Redis is away.
 *
 * Invariants: a call is blocked or let through whether or not this works; its answer waits for a store no longer than
 * `patienceMs`. An event is kept in memory, up to a bound, only while neither store takes it: it is lost if this
 * process dies meanwhile, and else counted. What is in Redis alone is kept in memory too (in-stream.ts). One that is written twice has one id.
 */
import type { PolicyEvent } from '@gw/contract/internal/policy-event';
import { policyEventStream } from '@gw/contract/internal/redis';
import { openKept } from '@gw/service/kept';
import type { Logger } from '@gw/service/log';
import { oneAtATime } from '@gw/service/one-at-a-time';
import type { Redis } from 'ioredis';
import { openInStream } from '../ledger/in-stream.ts';
import type { Spool } from '../ledger/spool.ts';
import { boundedWrites, type Patience, succeedsWithin } from '../wire/bounded.ts';

/** Takes what screening finds. */
export interface PolicyEvents {
  /** Resolves when a store has the event, or when none took it in time. Never rejects. */
  record(event: PolicyEvent): Promise<void>;
  /** Counts the events that no store has yet, and those that were lost because there was no room for them. */
  counts(): { readonly kept: number; readonly lost: number };
  stop(): Promise<void>;
}

export interface PolicyEventsOptions {
  readonly redis: Redis;
  /** A spool in a folder that nothing else uses. */
  readonly spool: Spool;
  readonly log: Logger;
  readonly tendEveryMs?: number;
  /** How long an answer waits for a store, and how much of that for Redis. */
  readonly patienceMs?: number;
  readonly redisBoundMs?: number;
}

/**
 * Events in the stream, about 50 MB. The oldest are lost if the job that reads it is away for longer than that lasts.
 */
const maxStreamLength = 100_000;
const maxKeptBytes = 16 * 1024 * 1024;
/** Bounds the copies of events in the stream. `maxStreamLength` events take less. */
const maxInStreamBytes = 64 * 1024 * 1024;
const replayBatch = 200;

export function openPolicyEvents({
  redis,
  spool,
  log,
  tendEveryMs = 1000,
  patienceMs = 50,
  redisBoundMs = 30,
}: PolicyEventsOptions): PolicyEvents {
  const kept = openKept(maxKeptBytes);
  let spooled = true; // An earlier process may have left something.
  /** True after Redis did not take an event in time: no other one waits for it until it answers again. */
  let away = false;
  const disk = boundedWrites();

  const { toRedis, tendStream } = openStream(redis, log);

  const takenBySpool = (event: Buffer, patience: Patience): Promise<boolean> => {
    const append = () =>
      spool.append(event).then(() => {
        spooled = true;
      });
    return disk.attempt(append, patience);
  };

  const taken = async (event: Buffer): Promise<boolean> => {
    const patience = { leftMs: patienceMs };
    if (!away) {
      if (await succeedsWithin(toRedis(event), patience, redisBoundMs)) return true;
      if (!away) log.warn('Redis does not take screening findings in time; they go to the spool');
      away = true;
    }
    return takenBySpool(event, patience);
  };

  const replay = async (): Promise<void> => {
    if (!spooled || disk.hanging()) return;
    spooled = false;
    try {
      const count = await spool.replay(async (events) => {
        for (let at = 0; at < events.length; at += replayBatch)
          await Promise.all(events.slice(at, at + replayBatch).map(toRedis));
      });
      if (count > 0) log.info({ count }, 'findings of screening from the spool are in the stream');
    } catch (error) {
      spooled = true;
      log.warn({ err: error }, 'the spool of findings could not be replayed; it stays');
    }
  };

  const bringHome = async (): Promise<void> => {
    if (!away && redis.status === 'ready') await tendStream().catch(() => undefined);
    if (!away && !spooled && kept.size === 0) return;
    if (redis.status !== 'ready' || !(await succeedsWithin(redis.ping(), { leftMs: patienceMs }))) return;
    away = false;
    await kept.hand((_id, event) => taken(event));
    if (!away) await replay();
  };
  const tend = oneAtATime(bringHome);
  const timer = setInterval(() => void tend(), tendEveryMs);

  return {
    async record(event) {
      const bytes = Buffer.from(JSON.stringify(event));
      if (await taken(bytes)) return;
      if (kept.size === 0) log.warn('neither Redis nor the spool takes screening findings; they wait in memory');
      if (!kept.add(event.id, bytes))
        log.error({ id: event.id }, 'a finding of screening could not be stored anywhere');
    },
    counts: () => ({ kept: kept.size, lost: kept.lost }),
    async stop() {
      clearInterval(timer);
      await tend();
    },
  };
}

function openStream(redis: Redis, log: Logger) {
  const toRedis = async (event: Buffer): Promise<void> => {
    const streamId = await redis.xadd(policyEventStream, 'MAXLEN', '~', maxStreamLength, '*', 'event', event);
    if (streamId !== null) inStream.added(streamId, event);
  };
  const inStream = openInStream({ redis, stream: policyEventStream, maxBytes: maxInStreamBytes, put: toRedis, log });
  return { toRedis, tendStream: inStream.tend };
}
