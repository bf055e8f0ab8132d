/**
 * Scripts that count the use of an account's budgets in a month inside Redis, so that any number of instances agree.
 *
 * There are two hashes. The first has five fields for each budget: `base:<id>`, the sum of the receipts in Postgres; `used:<id>`, the
 * base and all calls of the second hash; `held:<id>`, the reserved part of it; `spare:<id>`, what of that is above the assumed steps, as for
 * an answer that nobody has bounded; `estimated:<id>`, the part that is assumed for receipts without a number. Its field `turn` counts the bases. The second maps the receipt id of each call that no base includes to `r:`
 * (reserved) or `s:` (settled) and `<id>=<steps>;` for each of its budgets, or `<id>~<steps>;` if the steps are assumed. A reservation has
 * `<id>=<steps>+<assumed>;`: the steps that count if nobody settles it and its receipt has no number.
 *
 * Invariants: `used` is the base plus the calls, and a call is in only one of them. Steps are added as integers.
 */

/** Longer than a month plus the delay of receipts. */
export const keptS = 45 * 86_400;

const head = `
local use, calls = KEYS[1], KEYS[2]
local function add_spare(id, steps, assumed, sign)
  local spare = tonumber(steps) - tonumber(assumed)
  if spare > 0 then redis.call('HINCRBY', use, 'spare:' .. id, string.format('%.0f', sign * spare)) end
end
local function take_out(receipt)
  local entry = redis.call('HGET', calls, receipt)
  if not entry then return false end
  local reserved = string.sub(entry, 1, 1) == 'r'
  for id, sign, steps in string.gmatch(entry, '([%w_-]+)([=~])(%d+)') do
    -- Redis does not accept "-0" as a number.
    local less = steps == '0' and '0' or '-' .. steps
    redis.call('HINCRBY', use, 'used:' .. id, less)
    if reserved then redis.call('HINCRBY', use, 'held:' .. id, less) end
    if sign == '~' then redis.call('HINCRBY', use, 'estimated:' .. id, less) end
  end
  for id, steps, assumed in string.gmatch(entry, '([%w_-]+)=(%d+)%+(%d+)') do add_spare(id, steps, assumed, -1) end
  redis.call('HDEL', calls, receipt)
  return true
end
local function put_in(receipt, state, ids, steps, signs, assumed)
  local entry = state .. ':'
  for i, id in ipairs(ids) do
    redis.call('HINCRBY', use, 'used:' .. id, steps[i])
    if state == 'r' then redis.call('HINCRBY', use, 'held:' .. id, steps[i]) end
    if assumed then add_spare(id, steps[i], assumed[i], 1) end
    local sign = signs and signs[i] or '='
    if sign == '~' then redis.call('HINCRBY', use, 'estimated:' .. id, steps[i]) end
    entry = entry .. id .. sign .. steps[i] .. (assumed and '+' .. assumed[i] or '') .. ';'
  end
  redis.call('HSET', calls, receipt, entry)
  redis.call('EXPIRE', use, ${keptS})
  redis.call('EXPIRE', calls, ${keptS})
end
`;

/**
 * Reserves for one call from all of its budgets or from none, in one atomic step.
 *
 * ARGV: receipt; 1 to reserve regardless of the use, unless the call is known; the tokens by which its answer may be longer than the steps
 * assume if it is bounded; then for each budget its id, steps, the limit or -1, the minimum use if Redis has no base, the assumed steps, the
 * steps for the longest bound, and those for an answer without one. The last are reserved where they fit into all budgets; where they do not,
 * the longest bound whose steps fit. Returns the index, from 1, of the budget that has too little left, or 0; by how many tokens the answer
 * may be longer, or -1 for any number, and for a refused call 1 if it would fit without all that is spare, otherwise 0; then for each budget
 * its use, including this call unless refused, 1 if Redis has the base, and the reserved steps.
 */
export const reserveScript = `${head}
local span = tonumber(ARGV[3])
local ids, wanted, assumed, reply, used_by, known_by = {}, {}, {}, {0, -1}, {}, {}
local longer, is_whole, has_spare = span, true, true
for i = 4, #ARGV, 7 do
  local id, least, most = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local bounded, whole = tonumber(ARGV[i + 5]), tonumber(ARGV[i + 6])
  local used = tonumber(redis.call('HGET', use, 'used:' .. id) or 0)
  local known = redis.call('HEXISTS', use, 'base:' .. id)
  if known == 0 then used = used + tonumber(ARGV[i + 3]) end
  ids[#ids + 1], assumed[#assumed + 1] = id, ARGV[i + 4]
  wanted[#wanted + 1] = { least = least, bounded = bounded, whole = whole, left = most >= 0 and most - used or math.huge }
  used_by[#used_by + 1], known_by[#known_by + 1] = used, known
  if most >= 0 then
    local left = most - used - least
    if left < 0 then
      if reply[1] == 0 then reply[1] = #ids end
      has_spare = has_spare and left + tonumber(redis.call('HGET', use, 'spare:' .. id) or 0) >= 0
    end
    if used + whole > most then is_whole = false end
    if bounded > least then longer = math.min(longer, math.floor(span * left / (bounded - least))) end
  end
end
local is_new = true
if ARGV[2] == '1' then
  reply[1] = 0
  is_new = redis.call('HEXISTS', calls, ARGV[1]) == 0
end
local is_taken = is_new and reply[1] == 0
if not is_whole then reply[2] = math.max(0, longer) end
if reply[1] > 0 then reply[2] = has_spare and 1 or 0 end
local steps = {}
for i, each in ipairs(wanted) do
  local amount = each.whole
  if not is_whole then
    -- The product can be too large to be exact.
    amount = math.min(each.left, each.least + math.ceil((each.bounded - each.least) * longer / math.max(1, span)))
  end
  steps[i] = string.format('%.0f', amount)
  reply[#reply + 1] = used_by[i] + (is_taken and amount or 0)
  reply[#reply + 1] = known_by[i]
  reply[#reply + 1] = amount
end
if is_taken then
  take_out(ARGV[1])
  put_in(ARGV[1], 'r', ids, steps, nil, assumed)
end
return reply
`;

/** Replaces a call's reservation by its actual use. ARGV: receipt, then for each budget id, steps, and `=` or `~`. */
export const settleScript = `${head}
local ids, steps, signs = {}, {}, {}
for i = 2, #ARGV, 3 do ids[#ids + 1], steps[#steps + 1], signs[#signs + 1] = ARGV[i], ARGV[i + 1], ARGV[i + 2] end
take_out(ARGV[1])
put_in(ARGV[1], 's', ids, steps, signs)
return 0
`;

/** Releases a reservation. ARGV: receipt. */
export const releaseScript = `${head}
take_out(ARGV[1])
return 0
`;

/**
 * Sets the bases, removes the calls that they include, and recomputes the other fields, unless another instance has done so since
 * `turn`.
 *
 * ARGV: turn, number of budgets, then of each its id, its base and the assumed part of that in steps, then receipts. Returns 1 if done, otherwise 0.
 */
export const rebaseScript = `${head}
if (redis.call('HGET', use, 'turn') or '0') ~= ARGV[1] then return 0 end
local turn, count = tonumber(ARGV[1]), tonumber(ARGV[2])
local used, held, spare, estimated = {}, {}, {}, {}
for i = 3, 2 + 3 * count, 3 do
  used[ARGV[i]], held[ARGV[i]], spare[ARGV[i]], estimated[ARGV[i]] = tonumber(ARGV[i + 1]), 0, 0, tonumber(ARGV[i + 2])
end
for i = 3 + 3 * count, #ARGV do redis.call('HDEL', calls, ARGV[i]) end
local entries = redis.call('HGETALL', calls)
for i = 2, #entries, 2 do
  local reserved = string.sub(entries[i], 1, 1) == 'r'
  for id, sign, steps in string.gmatch(entries[i], '([%w_-]+)([=~])(%d+)') do
    if used[id] then
      used[id] = used[id] + tonumber(steps)
      if reserved then held[id] = held[id] + tonumber(steps) end
      if sign == '~' then estimated[id] = estimated[id] + tonumber(steps) end
    end
  end
  for id, steps, assumed in string.gmatch(entries[i], '([%w_-]+)=(%d+)%+(%d+)') do
    if spare[id] then spare[id] = spare[id] + math.max(0, tonumber(steps) - tonumber(assumed)) end
  end
end
redis.call('DEL', use)
redis.call('HSET', use, 'turn', string.format('%.0f', turn + 1))
for i = 3, 2 + 3 * count, 3 do
  local id = ARGV[i]
  redis.call('HSET', use, 'base:' .. id, ARGV[i + 1], 'used:' .. id, string.format('%.0f', used[id]),
    'held:' .. id, string.format('%.0f', held[id]), 'spare:' .. id, string.format('%.0f', spare[id]),
    'estimated:' .. id, string.format('%.0f', estimated[id]))
end
redis.call('EXPIRE', use, ${keptS})
return 1
`;
