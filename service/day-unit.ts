/**
 * Says what an account has taken of its day, and gives back what a call took: one that was answered with the reply of an earlier
 * call counts once with that.
 *
 * It knows the hash of a limit as `service/limits/take.lua.ts` keeps it: d the day, n the requests of that day. A key
 * without limits of its own has none. What took nothing, since its day was spent and in shadow mode, is given back too:
 * a limit that refuses nobody loses nothing by that.
 */
import { limitKey } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';

/** KEYS limits of one account. */
const giveBackScript = `
local time = redis.call('TIME')
local today = math.floor(time[1] / 86400)
for _, key in ipairs(KEYS) do
  local kept = redis.call('HMGET', key, 'd', 'n')
  if tonumber(kept[1]) == today and tonumber(kept[2] or 0) >= 1 then redis.call('HINCRBYFLOAT', key, 'n', -1) end
end
return 0
`;

/** Rejects if Redis does not answer. */
export const giveBackDayUnit = (redis: Redis, accountId: string, keyId: string): Promise<unknown> =>
  redis.eval(giveBackScript, 2, limitKey(accountId, 'calls'), limitKey(accountId, `calls:${keyId}`));

/** KEYS[1] the limit of an account. */
const takenScript = `
local today = math.floor(redis.call('TIME')[1] / 86400)
local kept = redis.call('HMGET', KEYS[1], 'd', 'n')
return tonumber(kept[1]) == today and tonumber(kept[2] or 0) or 0
`;

/** How many calls of an account have counted on this UTC day, by the clock of Redis. Rejects if it does not answer. */
export async function takenToday(redis: Redis, accountId: string): Promise<number> {
  return Number(await redis.eval(takenScript, 1, limitKey(accountId, 'calls')));
}
