/**
 * How far the ledger is complete: every call that began before has its receipt in Postgres.
 *
 * Invariant: it is asked before the ledger is read. What is neither pending nor in the stream then was committed before it left Redis, so
 * the read behind it sees it.
 *
 * Limit: a sidecar that cannot reach Redis marks no calls, and its receipts wait on its disk. Nobody else knows of them until it can.
 */
import { hourMs } from '@gw/contract/internal/durations';
import { ledgerStream, pendingReceiptsKey } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';

/** Receipts are marked some milliseconds after their call began, by the clock of another machine. */
const marginMs = 5000;
/** How many entries of the stream are looked at; a longer one is behind by more than a moment. */
const mostEntries = 2000;
/** No call lasts longer than this before its entry comes into the stream. */
const longestCallMs = hourMs;

/**
 * KEYS: pending set, ledger stream. ARGV: how many entries to look at. Returns the smallest time in an id, ms, or '', and the id of the
 * first entry in the stream if it has more than that, or ''. Of an entry (sealed-entry.ts) bytes 5 to 10 are the time, if the first is 1.
 */
const oldestScript = `
local oldest
local function take(ms) if ms and (not oldest or ms < oldest) then oldest = ms end end
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local high, low = string.match(id, '^rcpt_(%x%x%x%x%x%x%x%x)-(%x%x%x%x)-')
  if high then take(tonumber(high .. low, 16)) end
end
local entries = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', ARGV[1])
for _, entry in ipairs(entries) do
  local format, _, _, _, a, b, c, d, e, f = string.byte(entry[2][2], 1, 10)
  if format == 1 and f then take(((((a * 256 + b) * 256 + c) * 256 + d) * 256 + e) * 256 + f) end
end
local first = ''
if redis.call('XLEN', KEYS[2]) > #entries and entries[1] then first = entries[1][1] end
return {oldest and string.format('%.0f', oldest) or '', first}
`;

/** The answer of a moment ago holds, too: it only says less. */
const keptMs = 2000;

const kept = new WeakMap<Redis, { readonly at: number; readonly answer: Promise<Date | null> }>();

/** Asks Redis once in a while, however often it is called. */
export function completeUntilLately(redis: Redis, now: Date): Promise<Date | null> {
  const known = kept.get(redis);
  if (known && now.getTime() - known.at < keptMs) return known.answer;
  const answer = completeUntil(redis, now);
  kept.set(redis, { at: now.getTime(), answer });
  return answer;
}

/** Returns the time; null while Redis cannot be asked. */
export async function completeUntil(redis: Redis, now: Date): Promise<Date | null> {
  const found = await redis.eval(oldestScript, 2, pendingReceiptsKey, ledgerStream, mostEntries).catch(() => null);
  if (!Array.isArray(found)) return null;
  const [oldest, first] = found.map(String);
  const times = [now.getTime() - marginMs];
  if (oldest) times.push(Number(oldest));
  if (first) times.push(Number(first.split('-')[0]) - longestCallMs);
  return new Date(Math.min(...times));
}
