/**
 * Reads the day budget of an account, and refunds a call: a replayed reply counts only once, with the original call.
 *
 * It uses the fields of a limit's hash in `service/limits/take.lua.ts`: d, the day, and n, its requests. A key without limits of its own
 * has no hash. A call that took nothing, because its day budget was spent in shadow mode, is refunded too, which is harmless for a limit
 * that refuses nobody.
 */
import { limitKey } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';

/** KEYS: limits of one account. */
const giveBackScript = `
local time = redis.call('TIME')
local today = math.floor(time[1] / 86400)
for _, key in ipairs(KEYS) do
  local kept = redis.call('HMGET', key, 'd', 'n')
  if tonumber(kept[1]) == today and tonumber(kept[2] or 0) >= 1 then redis.call('HINCRBYFLOAT', key, 'n', -1) end
end
return 0
`;

/** `keyId`: null for a key without limits of its own. Rejects if Redis does not answer. */
export function giveBackDayUnit(redis: Redis, accountId: string, keyId: string | null): Promise<unknown> {
  const keys = [limitKey(accountId, 'calls'), ...(keyId === null ? [] : [limitKey(accountId, `calls:${keyId}`)])];
  return redis.eval(giveBackScript, keys.length, ...keys);
}

/** KEYS: the limit of an account. */
const takenScript = `
local today = math.floor(redis.call('TIME')[1] / 86400)
local kept = redis.call('HMGET', KEYS[1], 'd', 'n')
return tonumber(kept[1]) == today and tonumber(kept[2] or 0) or 0
`;

/** Returns the calls of an account on this UTC day, by Redis' clock. Rejects if Redis does not answer. */
export async function takenToday(redis: Redis, accountId: string): Promise<number> {
  return Number(await redis.eval(takenScript, 1, limitKey(accountId, 'calls')));
}
