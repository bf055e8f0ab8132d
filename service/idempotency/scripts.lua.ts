/**
 * Scripts for claims of idempotency keys, on Redis' own clock, so that any number of instances agree.
 *
 * A claim is a hash. v: the format, '1'. s: `running`, `done`, or `freed`, which is kept only if the next owner has to know.
 * f: fingerprint of the request. o: the owner. u: when the owner's lease ends. e: when the key becomes free; both in ms since 1970.
 * a: '1' if an earlier owner may have run. r: reference of the reply. b: the encrypted reply.
 *
 * Invariant: a key has at most one owner with a valid lease, and a new owner learns whether an earlier one may have run. A claim with an
 * unknown format is not changed.
 */

/** Lease of a call that does not renew it, ms; shorter than other calls wait. */
export const leaseMs = 15_000;
/** How long a reply can be replayed after the first request, ms. */
export const lifeMs = 86_400_000;
/** The most bytes of replies of an account within that time, since Redis holds them in memory. */
export const mostStoredBytes = 256 * 1024 * 1024;
/** The least time, ms, that a key is kept after its last change, even past its end. */
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
 * KEYS: the claim. ARGV: owner, fingerprint, fingerprint under the previous key.
 * Returns {'claimed', whether an earlier owner may have run, ms of its life} or {'running'}, {'reused'}, {'done'} or {'unknown'}.
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

/** Checks the owner of the claim, and restores one that Redis has lost. ARGV: owner, fingerprint, ms of its life. */
const own = `
local kept = redis.call('HMGET', KEYS[1], 'o', 's', 'e', 'a')
if not kept[1] then
  kept = { ARGV[1], 'running', math.floor(now + ARGV[3]), '0' }
  redis.call('HSET', KEYS[1], 'v', '1', 's', 'running', 'f', ARGV[2], 'o', ARGV[1], 'u', now, 'e', kept[3], 'a', '0')
end
if kept[1] ~= ARGV[1] or kept[2] ~= 'running' then return 0 end
local ends = tonumber(kept[3])
`;

/** KEYS: the claim. ARGV: as for `own`. Returns 0 if the claim has another owner. */
const renew = `${head}${own}
redis.call('HSET', KEYS[1], 'u', now + ${leaseMs})
keep_until(ends)
return 1
`;

/**
 * KEYS: the claim, the counter of bytes. ARGV: as for `own`, then the reference of the reply, and the reply or an empty text.
 * Returns 0 if the claim has another owner, 1 if the reply was not kept, 2 if it was.
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

/** KEYS: the claim. ARGV: owner, 1 if the call may have run. */
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
