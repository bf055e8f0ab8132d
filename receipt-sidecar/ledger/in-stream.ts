/**
 * What Redis has taken into a stream and Postgres may not have yet, in memory too, so that a Redis that forgets it gets
 * it again: emptied, lost with its disk, or back from a power cut without its last second.
 *
 * Invariants: an entry leaves memory only once its reader has deleted it from the stream, which it does after the commit;
 * or, above a bound, when newer ones need its room, and then it is counted. What is put in again was perhaps committed
 * already: whoever reads the stream inserts by id. No entry costs a command: the stream is looked at once in a while.
 */
import { streamEpochKey } from '@gw/contract/internal/redis';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import { HeldEntries } from './held-entries.ts';

export interface InStream {
  /** Remembers an entry by the id that the stream gave it. */
  added(streamId: string, entry: string): void;
  /** Looks at the stream: forgets what was read from it, and puts in again what Redis has lost. Rejects if Redis does. */
  tend(): Promise<void>;
  counts(): StreamCounts;
}

export interface StreamCounts {
  /** Entries that left memory before they were read, since newer ones needed its room: Redis alone has them. */
  readonly unguarded: number;
  /** By the last look: how many entries are in the stream, and when the oldest came (ms since 1970; null: there is none). */
  readonly length: number;
  readonly oldestAt: number | null;
}

export interface InStreamOptions {
  readonly redis: Redis;
  readonly stream: string;
  /** Bounds all entries together. */
  readonly maxBytes: number;
  /** Adds a lost entry to the stream, and so to what is remembered. */
  readonly put: (entry: string) => Promise<unknown>;
  /** Called before the lost is looked for, whenever Redis may have lost something. */
  readonly onDoubt?: () => void;
  readonly log: Logger;
}

/**
 * KEYS: stream, its epoch. ARGV: an epoch for a Redis that has none. The epoch goes when all goes: by another one than
 * before an emptied Redis gives itself away. Returns epoch, length, the first id in the stream or '', the last id given.
 */
const lookScript = `
local epoch = redis.call('GET', KEYS[2])
if not epoch then
  epoch = ARGV[1]
  redis.call('SET', KEYS[2], epoch)
end
local fields = redis.pcall('XINFO', 'STREAM', KEYS[1])
if fields.err then return {epoch, 0, '', '0-0'} end
local info = {}
for i = 1, #fields, 2 do info[fields[i]] = fields[i + 1] end
local first = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
return {epoch, info.length, first and first[1] or '', info['last-generated-id']}
`;

/** KEYS: stream. ARGV: ids. Returns the positions, from 1, of those that are not in it. */
const missingScript = `
local missing = {}
for i, id in ipairs(ARGV) do
  if #redis.call('XRANGE', KEYS[1], id, id) == 0 then missing[#missing + 1] = i end
end
return missing
`;

const batch = 200;

export function openInStream({ redis, stream, maxBytes, put, onDoubt, log }: InStreamOptions): InStream {
  const held = new HeldEntries(maxBytes);
  let length = 0;
  let oldestAt: number | null = null;
  let epoch: string | null = null;
  /** A server that was started again may have lost the end of its file. */
  let doubtful = false;
  redis.on('ready', () => {
    doubtful = true;
  });
  /**
   * Ids that were looked at, or given, when Redis was found emptied. The word that an entry was taken comes by another connection,
   * perhaps after that look: the next one is for those.
   */
  let lookedAt: Set<string> | null = null;
  let putAgain: ReadonlySet<string> = new Set();
  /** Puts in again those that are missing, of a batch. Returns how many. */
  const restoreSome = async (some: readonly string[]): Promise<number> => {
    const missing = new Set((await redis.eval(missingScript, 1, stream, ...some)) as number[]);
    const lost = new Set(some.filter((_, index) => missing.has(index + 1)));
    const entries = held.find(lost);
    putAgain = new Set(entries.map(([, entry]) => entry));
    try {
      await putAll(held, entries, put);
    } finally {
      putAgain = new Set();
    }
    return entries.length;
  };
  const restore = async (all: readonly string[]): Promise<void> => {
    // What comes meanwhile would else take the place of those that are still to be put in, now or by the next look.
    held.wantAll(true);
    let restored = 0;
    for (let at = 0; at < all.length; at += batch) restored += await restoreSome(all.slice(at, at + batch));
    held.wantAll(false);
    if (restored > 0) log.warn({ restored, stream }, 'what may have been lost in Redis was put there again');
  };

  return {
    added: (id, entry) => {
      if (putAgain.has(entry)) lookedAt?.add(id);
      held.add(id, entry);
    },
    async tend() {
      const reply = await redis.eval(lookScript, 2, stream, streamEpochKey(stream), crypto.randomUUID());
      const [itsEpoch, itsLength, first, last] = reply as [string, number, string, string];
      length = itsLength;
      oldestAt = first === '' ? null : parseId(first).ms;
      if (itsEpoch !== epoch || doubtful) {
        // Before the rest, so that a connection that breaks meanwhile is not forgotten.
        doubtful = false;
        try {
          onDoubt?.();
          const all = held.ids;
          if (epoch !== null && itsEpoch !== epoch) lookedAt = new Set(all);
          await restore(all);
        } catch (error) {
          doubtful = true;
          throw error;
        }
        epoch = itsEpoch;
        return;
      }
      if (lookedAt !== null) {
        const before = lookedAt;
        await restore(held.ids.filter((id) => !before.has(id)));
        lookedAt = null;
      }
      held.forgetWhile((id) => (first === '' ? !isBefore(last, id) : isBefore(id, first)));
    },
    counts: () => ({ unguarded: held.unguarded, length, oldestAt }),
  };
}

/** Those that were put are held under their new ids alone, the others stay as they are. Rejects if one was not put. */
async function putAll(
  held: HeldEntries,
  entries: readonly (readonly [id: string, entry: string])[],
  put: InStreamOptions['put'],
): Promise<void> {
  const ends = await Promise.allSettled(entries.map(([, entry]) => put(entry)));
  held.forget(new Set(entries.flatMap(([id], index) => (ends[index]?.status === 'fulfilled' ? id : []))));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

/** `<ms since 1970>-<number>`. */
function parseId(id: string): { readonly ms: number; readonly sequence: number } {
  const [ms, sequence] = id.split('-').map(Number);
  return { ms: ms ?? 0, sequence: sequence ?? 0 };
}

function isBefore(id: string, other: string): boolean {
  const [one, two] = [parseId(id), parseId(other)];
  return one.ms < two.ms || (one.ms === two.ms && one.sequence < two.sequence);
}
