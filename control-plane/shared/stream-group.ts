/**
 * A consumer group on a Redis stream, command by command.
 *
 * Invariant: a Redis whose memory is full (`noeviction`) lets entries be read and taken out, since that is what frees it.
 * It refuses commands that need memory: making the group, setting aside, and each command of a transaction.
 */
import type { Redis } from 'ioredis';

export interface Entry {
  readonly streamId: string;
  /** The value of the field. Undefined if the field is missing. */
  readonly bytes: Buffer | undefined;
  /** True if the entry was taken out of the stream while it was pending. */
  readonly deleted: boolean;
}

export interface StreamNames {
  readonly stream: string;
  readonly group: string;
  /** The field of an entry that is read. */
  readonly field: string;
}

/** Each command rejects if Redis does not answer. `idleMs` is how long a consumer has to be silent to count as dead. */
export interface StreamGroup {
  /**
   * Makes the group if there is none. It begins at the first entry, even if that was written before. Redis refuses this
   * for want of memory even if there is one, so that is no error: where it is missing, reading says so (NOGROUP).
   */
  ensure(redis: Redis): Promise<void>;
  /**
   * Takes over up to `count` entries of dead consumers, and removes consumers that left nothing and are long silent.
   */
  claimAbandoned(redis: Redis, consumer: string, idleMs: number, count: number): Promise<void>;
  /** Returns what this consumer has read and not acknowledged, after the entry `after`. */
  readOwn(redis: Redis, consumer: string, count: number, after?: string): Promise<Entry[]>;
  /** Returns what no consumer has read yet, and waits up to `blockMs` for it, or not at all. */
  readNew(redis: Redis, consumer: string, count: number, blockMs?: number): Promise<Entry[]>;
  /** Takes entries out that were read. */
  takeOut(redis: Redis, streamIds: readonly string[]): Promise<void>;
  /**
   * Moves entries that no retry could mend into another stream, which is never trimmed: somebody has to look at each. If
   * that needs memory which Redis does not have (`isOutOfMemory`), all stay pending here.
   */
  setAside(redis: Redis, into: string, dead: readonly DeadEntry[]): Promise<void>;
}

export interface DeadEntry {
  readonly streamId: string;
  readonly bytes: Buffer;
  readonly reason: string;
}

/** Whether Redis refuses a command, or a transaction for one of its commands, since its memory is full. */
export function isOutOfMemory(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const queued: unknown[] =
    'previousErrors' in error && Array.isArray(error.previousErrors) ? error.previousErrors : [];
  return error.message.includes('OOM ') || queued.some(isOutOfMemory);
}

/**
 * KEYS: stream. ARGV: group, a consumer to keep, and for how long (ms) the forgotten ones were silent. One step, since
 * what a consumer reads between the look at it and its end would be pending nowhere, and left in the stream for good.
 */
const forgetScript = `
for _, fields in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local consumer = {}
  for i = 1, #fields, 2 do consumer[fields[i]] = fields[i + 1] end
  if consumer.pending == 0 and consumer.idle > tonumber(ARGV[3]) and consumer.name ~= ARGV[2] then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], consumer.name)
  end
end
`;

/** As bytes, which lie outside of V8's heap: texts that live as long as a batch made it collect garbage without end. */
type RawEntry = [id: Buffer, fields: Buffer[] | null];

export function streamGroup({ stream, group, field }: StreamNames): StreamGroup {
  const entriesOf = (reply: unknown): Entry[] => {
    const streams = (reply ?? []) as [name: Buffer, entries: RawEntry[]][];
    return (streams[0]?.[1] ?? []).map(([streamId, fields]) => {
      return { streamId: streamId.toString(), bytes: fieldOf(fields ?? [], field), deleted: fields === null };
    });
  };
  return {
    ensure: async (redis) => {
      try {
        await redis.xgroup('CREATE', stream, group, '0', 'MKSTREAM');
      } catch (error) {
        const exists = error instanceof Error && error.message.startsWith('BUSYGROUP');
        if (!exists && !isOutOfMemory(error)) throw error;
      }
    },
    claimAbandoned: async (redis, consumer, idleMs, count) => {
      await redis.xautoclaim(stream, group, consumer, idleMs, '0-0', 'COUNT', count, 'JUSTID');
      await redis.eval(forgetScript, 1, stream, group, consumer, 100 * idleMs);
    },
    readOwn: async (redis, consumer, count, after = '0') =>
      entriesOf(await redis.xreadgroupBuffer('GROUP', group, consumer, 'COUNT', count, 'STREAMS', stream, after)),
    readNew: async (redis, consumer, count, blockMs) =>
      entriesOf(
        await (blockMs === undefined
          ? redis.xreadgroupBuffer('GROUP', group, consumer, 'COUNT', count, 'STREAMS', stream, '>')
          : redis.xreadgroupBuffer('GROUP', group, consumer, 'COUNT', count, 'BLOCK', blockMs, 'STREAMS', stream, '>')),
      ),
    takeOut: async (redis, streamIds) => {
      if (streamIds.length === 0) return;
      // In this order: what is deleted and still pending is read once more, and known as deleted. Acknowledged first, it
      // would stay in the stream for good.
      await redis.xdel(stream, ...streamIds);
      await redis.xack(stream, group, ...streamIds);
    },
    setAside: async (redis, into, dead) => {
      if (dead.length === 0) return;
      const transaction = redis.multi();
      for (const { bytes, reason } of dead) transaction.xadd(into, '*', field, bytes, 'reason', reason);
      const ids = dead.map(({ streamId }) => streamId);
      await transaction
        .xdel(stream, ...ids)
        .xack(stream, group, ...ids)
        .exec();
    },
  };
}

/** Redis gives maps as flat lists: name, value, name, value. The last of a name counts. */
function fieldOf(flat: readonly Buffer[], name: string): Buffer | undefined {
  for (let at = flat.length - 2; at >= 0; at -= 2) if (flat[at]?.toString() === name) return flat[at + 1];
  return undefined;
}
