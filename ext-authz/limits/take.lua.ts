/**
 * `bucket.take` inside Redis: one atomic step, on Redis' own clock, so that any number of instances agree.
 * KEYS[1] a hash (t tokens, m ms, d day, n used). ARGV rate per s, burst, per day (-1: none).
 * Returns {outcome 0 admitted | 1 rate | 2 day, tokens × 1000, used, now ms}.
 */
export const takeScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local rate, burst, per_day = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local today = math.floor(now / 86400000)
local kept = redis.call('HMGET', KEYS[1], 't', 'm', 'd', 'n')
local tokens, at, day, used = tonumber(kept[1]), tonumber(kept[2]), tonumber(kept[3]), tonumber(kept[4])
local fresh = day ~= today
if not tokens then tokens, at = burst, now end
if fresh then used = 0 end
if now > at then tokens = math.min(burst, tokens + (now - at) * rate / 1000); at = now end
tokens = math.min(tokens, burst)
local outcome = 0
if per_day >= 0 and used >= per_day then outcome = 2
elseif tokens < 1 then outcome = 1
else tokens = tokens - 1; used = used + 1 end
redis.call('HSET', KEYS[1], 't', string.format('%.6f', tokens), 'm', at, 'd', today, 'n', used)
if fresh then redis.call('EXPIRE', KEYS[1], 172800) end
return {outcome, math.floor(tokens * 1000), used, now}
`;
