/**
 * Scripts that keep the leases of open streams in Redis, by Redis' own clock, so that any number of instances agree.
 *
 * Each account and each key has a sorted set: member = slot, score = when its lease ends, ms since 1970. A slot is in both sets. The sets
 * expire once all leases in them have ended.
 */

/**
 * Takes one slot if the limits allow it, in one atomic step. Expired leases are removed first.
 *
 * KEYS set of the account, set of the key. ARGV slot, lease ms, limit of the account, limit of the key (-1: none), 1: take
 * it even if the limits are reached. Returns {outcome 0 room | 1 account full | 2 key full, open in the account before, open
 * of the key before, leases that had ended}.
 */
export const takeScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lease, limit, key_limit = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local ended = redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local open, key_open = redis.call('ZCARD', KEYS[1]), redis.call('ZCARD', KEYS[2])
local outcome = 0
if open >= limit then outcome = 1
elseif key_limit >= 0 and key_open >= key_limit then outcome = 2 end
if outcome == 0 or ARGV[5] == '1' then
  for _, set in ipairs(KEYS) do
    redis.call('ZADD', set, now + lease, ARGV[1])
    redis.call('PEXPIRE', set, lease + 1000)
  end
end
return {outcome, open, key_open, ended}
`;

/**
 * Renews leases of one account, and registers again those that Redis has lost.
 *
 * KEYS set of the account, then sets of keys. ARGV lease ms, then for each slot its name and the place in KEYS of its key.
 */
export const renewScript = `
local time = redis.call('TIME')
local lease = tonumber(ARGV[1])
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + lease
for i = 2, #ARGV, 2 do
  redis.call('ZADD', KEYS[1], ends, ARGV[i])
  redis.call('ZADD', KEYS[tonumber(ARGV[i + 1])], ends, ARGV[i])
end
for _, set in ipairs(KEYS) do redis.call('PEXPIRE', set, lease + 1000) end
return 0
`;
