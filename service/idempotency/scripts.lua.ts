/**
 * Claims of idempotency keys inside Redis, on Redis' own clock, so that any number of instances agree.
 *
 * A claim is a hash. v: the format, '1'. s: `running`, `done`, or `freed`, which is kept only where somebody has to be
 * told. f: fingerprint of the request. o: who runs it. u: when the lease of that one ends. e: when the key can be used
 * for something new. Both in ms since 1970. a: '1' if somebody before this owner may have run. r: what a reply that is
 * not here is called. b: the reply, encrypted.
 *
 * Invariant: a key has one owner whose lease has not ended, and whoever becomes owner is told whether an earlier one
 * may have run. A claim of an unknown format is left as it is.
 */

/** How long a key belongs to a call that gives no sign of life, ms: less than another call waits for it. */
export const leaseMs = 15_000;
/** How long a reply can be had again, counted from the first request, ms. */
export const lifeMs = 86_400_000;
/** How many bytes of replies an account can store within that time: Redis holds them in memory. */
export const mostStoredBytes = 256 * 1024 * 1024;
/** For so long, ms, a key is remembered after the last that was heard of it, even if its time is over. */
export const lastWordMs = 60_000;

const head = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function keep_until(ends)
  ends = math.max(ends, now + ${lastWordMs})
  redis.call('HSET', KEYS[1], 'e', ends)
  redis.call('PEXPIRE', KEYS[1], ends - now)
  return ends
end
`;

/**
 * KEYS the claim. ARGV owner, fingerprint, the same by the encryption key before.
 * Returns {'claimed', somebody before may have run, ms of its life} or {'running'}, {'reused'}, {'done'} or {'unknown'}.
 */
const claim = `${head}
local kept = redis.call('HMGET', KEYS[1], 'v', 's', 'u', 'e', 'f')
local state, lease_ends, ends = kept[2], tonumber(kept[3] or 0), tonumber(kept[4] or 0)
local runs = state == 'running' and lease_ends > now
local ran = 0
if kept[1] and kept[1] ~= '1' then return {'unknown'} end
if state and (runs or ends > now) then
  if runs or state == 'done' then
    if kept[5] ~= ARGV[2] and kept[5] ~= ARGV[3] then return {'reused'} end
    if runs then return {'running'} end
    return {'done'}
  end
  ran = 1
else
  ends = now + ${lifeMs}
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'v', '1', 's', 'running', 'f', ARGV[2], 'o', ARGV[1], 'u', now + ${leaseMs}, 'a', ran)
return {'claimed', ran, keep_until(ends) - now}
`;

/** Says who owns the claim, and makes it again if Redis has lost it. ARGV owner, fingerprint, ms of its life. */
const own = `
local kept = redis.call('HMGET', KEYS[1], 'o', 's', 'e', 'a')
if not kept[1] then
  kept = { ARGV[1], 'running', math.floor(now + ARGV[3]), '0' }
  redis.call('HSET', KEYS[1], 'v', '1', 's', 'running', 'f', ARGV[2], 'o', ARGV[1], 'u', now, 'e', kept[3], 'a', '0')
end
if kept[1] ~= ARGV[1] or kept[2] ~= 'running' then return 0 end
local ends = tonumber(kept[3])
`;

/** KEYS the claim. ARGV as of \`own\`. Returns 0 if the claim is another one's. */
const renew = `${head}${own}
redis.call('HSET', KEYS[1], 'u', now + ${leaseMs})
keep_until(ends)
return 1
`;

/**
 * KEYS the claim, the counter of bytes. ARGV as of \`own\`, then what the reply is called, the reply (empty: it is not to
 * be kept). Returns 0 if the claim is another one's, 1 if the reply was not kept, 2 if it was.
 */
const finish = `${head}${own}
local size, keeps = #ARGV[5], false
if size > 0 then
  local stored = redis.call('INCRBY', KEYS[2], size)
  if stored == size then redis.call('PEXPIRE', KEYS[2], ${lifeMs}) end
  keeps = stored <= ${mostStoredBytes}
  if not keeps then redis.call('DECRBY', KEYS[2], size) end
end
redis.call('HSET', KEYS[1], 's', 'done', 'r', ARGV[4])
if keeps then redis.call('HSET', KEYS[1], 'b', ARGV[5]) end
keep_until(ends)
return keeps and 2 or 1
`;

/** KEYS the claim. ARGV owner, 1 if it may have run. */
const free = `${head}
local kept = redis.call('HMGET', KEYS[1], 'o', 's', 'e', 'a')
if kept[1] ~= ARGV[1] or kept[2] ~= 'running' then return 0 end
if ARGV[2] == '1' or kept[4] == '1' then
  redis.call('HSET', KEYS[1], 's', 'freed')
  keep_until(tonumber(kept[3]))
else
  redis.call('DEL', KEYS[1])
end
return 1
`;

export const claimScripts = { claim, renew, finish, free } as const;
