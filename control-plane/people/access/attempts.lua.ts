/**
 * Admits an attempt to log in, or says how long to wait; one step over all instances.
 *
 * An admitted attempt counts as failed at once, so that many at the same time do not pass as one; success takes it
 * back. A person at an address from which this person has logged in before is judged by that pair alone.
 */

/**
 * KEYS: address, subject, pair of both. ARGV: now (ms), free attempts and longest wait (ms) of the address, the same of
 * the subject, how long a counter lives (ms). Returns the wait in ms (0: admitted), and 1 if the pair is known.
 */
export const admitScript = `
local now = tonumber(ARGV[1])
local lives = tonumber(ARGV[6])
local known = redis.call('HEXISTS', KEYS[3], 'known') == 1
local address = { KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[3]) }
local counters = known and { { KEYS[3], tonumber(ARGV[4]), tonumber(ARGV[5]) } }
  or { address, { KEYS[2], tonumber(ARGV[4]), tonumber(ARGV[5]) } }
local wait = 0
for _, counter in ipairs(counters) do
  local free_at = tonumber(redis.call('HGET', counter[1], 'next') or '0')
  wait = math.max(wait, free_at - now)
end
if wait > 0 then return { wait, known and 1 or 0 } end
for _, counter in ipairs(counters) do
  local failures = redis.call('HINCRBY', counter[1], 'n', 1)
  local pause = 0
  if failures > counter[2] then pause = math.min(counter[3], 1000 * 2 ^ math.min(30, failures - counter[2] - 1)) end
  redis.call('HSET', counter[1], 'next', now + pause)
  if not known then redis.call('PEXPIRE', counter[1], lives) end
end
return { 0, known and 1 or 0 }
`;

/** Counts a login that succeeded. KEYS as above. ARGV: how long the pair of address and person stays known (ms). */
export const succeededScript = `
local known = redis.call('HEXISTS', KEYS[3], 'known') == 1
redis.call('HSET', KEYS[3], 'known', 1, 'n', 0, 'next', 0)
redis.call('PEXPIRE', KEYS[3], ARGV[1])
if known then return 0 end
redis.call('DEL', KEYS[2])
-- Only this attempt is taken back: whoever has one login of his own must not wash off his guesses at others.
if redis.call('HINCRBY', KEYS[1], 'n', -1) < 0 then redis.call('DEL', KEYS[1]) end
return 0
`;

/**
 * Takes back an attempt that was admitted, and then not judged. KEYS as above. ARGV: the time (ms since 1970) from
 * which the next one is admitted, unless its turn comes earlier.
 */
export const takeBackScript = `
local known = redis.call('HEXISTS', KEYS[3], 'known') == 1
for _, counter in ipairs(known and { KEYS[3] } or { KEYS[1], KEYS[2] }) do
  if tonumber(redis.call('HGET', counter, 'n') or '0') > 0 then
    redis.call('HINCRBY', counter, 'n', -1)
    local free_at = tonumber(redis.call('HGET', counter, 'next') or '0')
    redis.call('HSET', counter, 'next', math.min(free_at, tonumber(ARGV[1])))
  end
end
return 0
`;
