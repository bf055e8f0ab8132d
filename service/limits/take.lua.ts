/**
 * `takeTogether` of `bucket.ts` as an atomic step inside Redis, on Redis' own clock, so that any number of instances agree.
 *
 * A limit is a hash: b, thousandths of tokens; m, their time in ms; d, the day; n, what is used of it. Releases share it, so the
 * meaning of a field never changes; a new meaning gets a new name. A limit with missing or malformed fields starts over, since a
 * damaged limit is no reason to refuse everybody.
 */

/** `advance`: reads and refills KEYS[i]; `rate` is in thousandths per ms, `burst` in thousandths. */
const advance = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local today = math.floor(now / 86400000)
local function advance(key, rate, burst)
  local kept = redis.call('HMGET', key, 'b', 'm', 'd', 'n')
  local tokens, at, day, used = tonumber(kept[1]), tonumber(kept[2]), tonumber(kept[3]), tonumber(kept[4])
  local fresh = not day or not used or today > day or today < day - 1
  if fresh then day, used = today, 0 end
  if not tokens or not at then tokens = burst
  elseif now > at then tokens = tokens + (now - at) * rate end
  return { key = key, rate = rate, tokens = math.min(tokens, burst), day = day, used = used, fresh = fresh }
end
local function keep(limit)
  if limit.rate > 0 then
    redis.call('HSET', limit.key, 'b', limit.tokens, 'm', now, 'd', limit.day, 'n', limit.used)
  else
    redis.call('HSET', limit.key, 'd', limit.day, 'n', limit.used)
  end
  if limit.fresh then redis.call('EXPIRE', limit.key, 172800) end
end
`;

/**
 * KEYS: the limits. ARGV: 1 if rates are in shadow, 1 if days are, then rate (0: none), burst, budget of the day (-1: none) of each
 * limit, and what the request takes from it.
 * Returns {bits of the exhausted limits, now in ms, then for each limit thousandths of tokens and used}.
 */
export const takeScript = `${advance}
local lacking, refused, bit, limits = 0, false, 1, {}
for i, key in ipairs(KEYS) do
  local rate, burst = tonumber(ARGV[4 * i - 1]), ARGV[4 * i] * 1000
  local per_day, cost = tonumber(ARGV[4 * i + 1]), tonumber(ARGV[4 * i + 2])
  local limit = advance(key, rate, burst)
  limit.cost = cost
  limit.no_rate = rate > 0 and limit.tokens < cost * 1000
  limit.no_day = per_day >= 0 and limit.used + cost > per_day
  if limit.no_rate then lacking = lacking + bit; refused = refused or ARGV[1] ~= '1' end
  if limit.no_day then lacking = lacking + 2 * bit; refused = refused or ARGV[2] ~= '1' end
  bit = bit * 4
  limits[i] = limit
end
local reply = { lacking, now }
for _, limit in ipairs(limits) do
  if not refused then
    if limit.rate > 0 and not limit.no_rate then limit.tokens = limit.tokens - limit.cost * 1000 end
    if not limit.no_day then limit.used = limit.used + limit.cost end
  end
  keep(limit)
  reply[#reply + 1] = limit.tokens
  reply[#reply + 1] = limit.used
end
return reply
`;

/**
 * Reads what is left. It writes too, because a Redis that cannot write could not take either.
 * KEYS: the limits. ARGV: rate (0: none) and burst of each. Returns what `takeScript` does.
 */
export const leftScript = `${advance}
local reply = { 0, now }
for i, key in ipairs(KEYS) do
  local limit = advance(key, tonumber(ARGV[2 * i - 1]), ARGV[2 * i] * 1000)
  keep(limit)
  reply[#reply + 1] = limit.tokens
  reply[#reply + 1] = limit.used
end
return reply
`;

/**
 * Counts a debt: calls that an instance admitted itself while Redis was unavailable, or what a call used beyond what it took. A negative one
 * gives back.
 * KEYS: the limit. ARGV: rate (0: none), burst, thousandths of tokens, use of the day, its age in days by the clock of the instance, and 1 if the
 * bucket may fall below zero.
 * Use on the instance's current day counts towards Redis' current day, even if the two differ.
 */
export const settleScript = `${advance}
local burst = ARGV[2] * 1000
local limit = advance(KEYS[1], tonumber(ARGV[1]), burst)
local tokens = limit.tokens - ARGV[3]
if ARGV[6] ~= '1' then tokens = math.max(0, tokens) end
limit.tokens = math.min(burst, tokens)
if tonumber(ARGV[5]) <= 0 then limit.used = math.max(0, limit.used + ARGV[4]) end
keep(limit)
`;
