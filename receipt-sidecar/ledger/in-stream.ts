/**
 * Keeps the entries of a Redis stream in memory until Postgres has them, and adds them again if Redis loses them: because it was emptied, lost
 * its disk, or came back from a power cut without its last second.
 *
 * Invariants: an entry leaves memory only after its reader has deleted it from the stream, which it does after the commit, or if newer entries
 * need the space above a bound; the latter are counted. Whoever cuts the stream off without having read it is taken for that reader. An entry
 * that is added again may have been committed already, so readers insert by id. Entries cost no commands of their own: the stream is checked
 * once in a while.
 */
import { elementAt } from '@gw/contract/internal/defined';
import { streamEpochKey } from '@gw/contract/internal/redis';
import type { Logger } from '@gw/service/log';
import { HeldEntries } from './held-entries.ts';

export interface InStream {
  /** Remembers an entry by its stream id. */
  added(streamId: string, entry: Buffer): void;
  /** Checks the stream: forgets the entries that were read, and adds those again that Redis has lost. Rejects if Redis does. */
  tend(): Promise<void>;
  counts(): StreamCounts;
}

export interface StreamCounts {
  /** Entries that left memory before they were read, since newer ones needed the space; only Redis has them. */
  readonly unguarded: number;
  /** The entries in the stream at the last check. */
  readonly length: number;
  /** When the oldest of them was added, ms since 1970; null if there was none. */
  readonly oldestAt: number | null;
}

/** The connection by which entries are put in: after a failover another one may be to another server for a while. */
interface PuttingRedis {
  eval(script: string, keys: number, ...rest: string[]): Promise<unknown>;
  on(event: 'ready', heard: () => void): unknown;
}

export interface InStreamOptions {
  readonly redis: PuttingRedis;
  readonly stream: string;
  /** Bounds all entries together. */
  readonly maxBytes: number;
  /** Adds a lost entry to the stream, and calls `added` for that buffer. */
  readonly put: (entry: Buffer) => Promise<unknown>;
  /** Has the bytes of an entry whose reader has committed it, until it returns. */
  readonly onRead?: (entry: Buffer) => void;
  /** Called before the search for lost entries, whenever Redis may have lost data. */
  readonly onDoubt?: () => void;
  readonly log: Logger;
}

/**
 * KEYS: stream, its epoch. ARGV: an epoch for a Redis that has none. An emptied Redis loses its epoch and shows by the new one that it was
 * emptied. Returns epoch, length, the first id in the stream or '', the last generated id, and which server this is.
 */
const lookScript = `
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
local epoch = redis.call('GET', KEYS[2])
if not epoch then
  epoch = ARGV[1]
  redis.call('SET', KEYS[2], epoch)
end
local fields = redis.pcall('XINFO', 'STREAM', KEYS[1])
if fields.err then return {epoch, 0, '', '0-0', server} end
local info = {}
for i = 1, #fields, 2 do info[fields[i]] = fields[i + 1] end
local first = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
return {epoch, info.length, first and first[1] or '', info['last-generated-id'], server}
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

export function openInStream({ redis, stream, maxBytes, put, onRead, onDoubt, log }: InStreamOptions): InStream {
  const held = new HeldEntries(maxBytes);
  let length = 0;
  let oldestAt: number | null = null;
  let epoch: string | null = null;
  /** A server that was restarted may have lost the end of its file, and one that took over what it had not copied yet. */
  let doubtful = false;
  let server: string | null = null;
  redis.on('ready', () => {
    doubtful = true;
  });
  /**
   * The ids that were checked or added when Redis was found emptied. Other entries may have been added before and confirmed later, on
   * another connection; the next check covers those.
   */
  let checked: Set<string> | null = null;
  let putAgain: ReadonlySet<Buffer> = new Set();
  /** Adds the missing entries of a batch again. Returns their number. */
  const restoreSome = async (some: readonly string[]): Promise<number> => {
    const entries = held.find(await missingFrom(redis, stream, some));
    putAgain = new Set(entries.map(([, entry]) => entry));
    try {
      await putAll(held, entries, put);
    } finally {
      putAgain = new Set();
    }
    return entries.length;
  };
  const restore = async (all: readonly string[]): Promise<void> => {
    // Otherwise new entries would displace those that still have to be added again, by this check or the next.
    held.wantAll(true);
    let restored = 0;
    for (let at = 0; at < all.length; at += batch) restored += await restoreSome(all.slice(at, at + batch));
    held.wantAll(false);
    if (restored > 0) log.warn({ restored, stream }, 'what may have been lost in Redis was put there again');
  };

  return {
    added: (id, entry) => {
      if (putAgain.has(entry)) checked?.add(id);
      held.add(id, entry);
    },
    async tend() {
      const [itsEpoch, itsLength, first, last, itsServer] = await lookAt(redis, stream);
      doubtful ||= server !== null && itsServer !== server;
      server = itsServer;
      length = itsLength;
      oldestAt = first === '' ? null : parseId(first).ms;
      if (itsEpoch !== epoch || doubtful) {
        // It is reset first, so that a connection that breaks meanwhile sets it again.
        doubtful = false;
        try {
          onDoubt?.();
          const all = held.ids;
          if (epoch !== null && itsEpoch !== epoch) checked = new Set(all);
          await restore(all);
        } catch (error) {
          doubtful = true;
          throw error;
        }
        epoch = itsEpoch;
        return;
      }
      if (checked !== null) {
        const before = checked;
        await restore(held.ids.filter((id) => !before.has(id)));
        checked = null;
      }
      held.forgetWhile((id) => (first === '' ? !isBefore(last, id) : isBefore(id, first)), onRead);
    },
    counts: () => ({ unguarded: held.unguarded, length, oldestAt }),
  };
}

type Look = [epoch: string, length: number, first: string, last: string, server: string];

/** Not an async function: what was added later may not be handled before the look. */
const lookAt = (redis: PuttingRedis, stream: string): Promise<Look> =>
  redis.eval(lookScript, 2, stream, streamEpochKey(stream), crypto.randomUUID()) as Promise<Look>;

async function missingFrom(redis: PuttingRedis, stream: string, ids: readonly string[]): Promise<Set<string>> {
  const missing = new Set((await redis.eval(missingScript, 1, stream, ...ids)) as number[]);
  return new Set(ids.filter((_, index) => missing.has(index + 1)));
}

/** Entries that were added are then held under their new ids only. Rejects if one could not be added. */
async function putAll(
  held: HeldEntries,
  entries: readonly (readonly [id: string, entry: Buffer])[],
  put: InStreamOptions['put'],
): Promise<void> {
  const ends = await Promise.allSettled(entries.map(([, entry]) => put(entry)));
  held.forget(new Set(entries.flatMap(([id], index) => (ends[index]?.status === 'fulfilled' ? id : []))));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

/** An id has the form `<ms since 1970>-<sequence>`. */
function parseId(id: string): { readonly ms: number; readonly sequence: number } {
  const parts = id.split('-').map(Number);
  return { ms: elementAt(parts, 0), sequence: elementAt(parts, 1) };
}

function isBefore(id: string, other: string): boolean {
  const [one, two] = [parseId(id), parseId(other)];
  return one.ms < two.ms || (one.ms === two.ms && one.sequence < two.sequence);
}
