/**
 * Admits an attempt to log in, or says how long to wait; one step over all instances.
 *
 * An admitted attempt counts as failed at once, so that many at the same time do not pass as one; success takes it back.
 */

/**
 * KEYS: address, subject, pair of both. ARGV: now (ms), free attempts and longest wait (ms) of the address, the same of
 * the subject, how long a counter lives (ms). Returns the wait in ms; 0: admitted.
 */
export const admitScript = `
local now = tonumber(ARGV[1])
local lives = tonumber(ARGV[6])
-- An address from which the person has logged in before is not slowed by what strangers do elsewhere.
local own = redis.call('HEXISTS', KEYS[3], 'known') == 1 and KEYS[3] or KEYS[2]
local counters = {
  { KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[3]) },
  { own, tonumber(ARGV[4]), tonumber(ARGV[5]) },
}
local wait = 0
for _, counter in ipairs(counters) do
  local free_at = tonumber(redis.call('HGET', counter[1], 'next') or '0')
  wait = math.max(wait, free_at - now)
end
if wait > 0 then return wait end
for _, counter in ipairs(counters) do
  local failures = redis.call('HINCRBY', counter[1], 'n', 1)
  local pause = 0
  if failures > counter[2] then pause = math.min(counter[3], 1000 * 2 ^ math.min(30, failures - counter[2] - 1)) end
  redis.call('HSET', counter[1], 'next', now + pause)
  if counter[1] ~= KEYS[3] then redis.call('PEXPIRE', counter[1], lives) end
end
return 0
`;

/** KEYS as above. ARGV: how long the address stays known (ms). */
export const succeededScript = `
if redis.call('HEXISTS', KEYS[3], 'known') == 0 then redis.call('DEL', KEYS[2]) end
redis.call('HSET', KEYS[3], 'known', 1, 'n', 0, 'next', 0)
redis.call('PEXPIRE', KEYS[3], ARGV[1])
-- Only this attempt is taken back: whoever has one login of his own must not wash off his guesses at others.
if redis.call('HINCRBY', KEYS[1], 'n', -1) < 0 then redis.call('DEL', KEYS[1]) end
return 0
`;
