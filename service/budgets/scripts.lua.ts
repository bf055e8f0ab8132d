/**
 * What is used of the budgets of one account in one month, inside Redis, so that any number of instances agree.
 *
 * Two hashes. The first has of each budget `base:<id>`, the sum of the receipts that Postgres has; `used:<id>`, that and
 * all calls of the second hash; `held:<id>`, the part of it that is reserved; and `turn`, which counts the bases. The second
 * has of each call that is in no base its receipt's id, with `r:` (reserved) or `s:` (settled), and `<id>=<steps>;` for each of
 * its budgets.
 *
 * Invariants: `used` is the base and the calls; a call is in one of them. Steps are whole numbers, added as integers.
 */

/** Longer than a month, and than receipts take to come. */
export const keptS = 45 * 86_400;

const head = `
local use, calls = KEYS[1], KEYS[2]
local function take_out(receipt)
  local entry = redis.call('HGET', calls, receipt)
  if not entry then return false end
  local reserved = string.sub(entry, 1, 1) == 'r'
  for id, steps in string.gmatch(entry, '([%w_-]+)=(%d+)') do
    -- Redis takes no "-0" for a number.
    local less = steps == '0' and '0' or '-' .. steps
    redis.call('HINCRBY', use, 'used:' .. id, less)
    if reserved then redis.call('HINCRBY', use, 'held:' .. id, less) end
  end
  redis.call('HDEL', calls, receipt)
  return true
end
local function put_in(receipt, state, ids, steps)
  local entry = state .. ':'
  for i, id in ipairs(ids) do
    redis.call('HINCRBY', use, 'used:' .. id, steps[i])
    if state == 'r' then redis.call('HINCRBY', use, 'held:' .. id, steps[i]) end
    entry = entry .. id .. '=' .. steps[i] .. ';'
  end
  redis.call('HSET', calls, receipt, entry)
  redis.call('EXPIRE', use, ${keptS})
  redis.call('EXPIRE', calls, ${keptS})
end
`;

/**
 * Reserves for one call, of all of its budgets or of none, in one atomic step.
 *
 * ARGV receipt, 1: reserve whatever is used, unless the call is there; then for each budget id, steps, the most that may be
 * used or -1, and what is used at least where Redis does not know the base. Returns the place of the budget that has too
 * little left, from 1, or 0; then for each what is used after it, or without it where it was refused, and 1 if the base is known.
 */
export const reserveScript = `${head}
local ids, steps, reply = {}, {}, {0}
for i = 3, #ARGV, 4 do
  local id, amount, most = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2])
  local used = tonumber(redis.call('HGET', use, 'used:' .. id) or 0)
  local known = redis.call('HEXISTS', use, 'base:' .. id)
  if known == 0 then used = used + tonumber(ARGV[i + 3]) end
  ids[#ids + 1], steps[#steps + 1] = id, amount
  reply[#reply + 1] = used
  reply[#reply + 1] = known
  if reply[1] == 0 and most >= 0 and used + tonumber(amount) > most then reply[1] = #ids end
end
if ARGV[2] == '1' then
  reply[1] = 0
  if redis.call('HEXISTS', calls, ARGV[1]) == 1 then return reply end
end
if reply[1] == 0 then
  take_out(ARGV[1])
  put_in(ARGV[1], 'r', ids, steps)
  for i, amount in ipairs(steps) do reply[2 * i] = reply[2 * i] + tonumber(amount) end
end
return reply
`;

/** Puts what a call used in the place of what was reserved. ARGV receipt, then for each budget id and steps. */
export const settleScript = `${head}
local ids, steps = {}, {}
for i = 2, #ARGV, 2 do ids[#ids + 1], steps[#steps + 1] = ARGV[i], ARGV[i + 1] end
take_out(ARGV[1])
put_in(ARGV[1], 's', ids, steps)
return 0
`;

/** Gives back what was reserved. ARGV receipt. */
export const releaseScript = `${head}
take_out(ARGV[1])
return 0
`;

/**
 * Sets the bases, takes out the calls that are in them, and makes `used` and `held` again; nothing if somebody else has done
 * so since `turn`.
 *
 * ARGV turn, how many budgets, for each id and steps of its base, then receipts. Returns 1 if it did, else 0.
 */
export const rebaseScript = `${head}
if (redis.call('HGET', use, 'turn') or '0') ~= ARGV[1] then return 0 end
local turn, count = tonumber(ARGV[1]), tonumber(ARGV[2])
local used, held = {}, {}
for i = 3, 2 + 2 * count, 2 do used[ARGV[i]], held[ARGV[i]] = tonumber(ARGV[i + 1]), 0 end
for i = 3 + 2 * count, #ARGV do redis.call('HDEL', calls, ARGV[i]) end
local entries = redis.call('HGETALL', calls)
for i = 2, #entries, 2 do
  local reserved = string.sub(entries[i], 1, 1) == 'r'
  for id, steps in string.gmatch(entries[i], '([%w_-]+)=(%d+)') do
    if used[id] then
      used[id] = used[id] + tonumber(steps)
      if reserved then held[id] = held[id] + tonumber(steps) end
    end
  end
end
redis.call('DEL', use)
redis.call('HSET', use, 'turn', string.format('%.0f', turn + 1))
for i = 3, 2 + 2 * count, 2 do
  local id = ARGV[i]
  redis.call('HSET', use, 'base:' .. id, ARGV[i + 1], 'used:' .. id, string.format('%.0f', used[id]),
    'held:' .. id, string.format('%.0f', held[id]))
end
redis.call('EXPIRE', use, ${keptS})
return 1
`;
