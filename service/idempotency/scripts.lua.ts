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
/** The most bytes of stored replies of an account, since Redis holds them in memory. */
export const mostStoredBytes = 256 * 1024 * 1024;
/** The memory that a claim takes beside its reply, rounded up. */
export const claimBytes = 512;
/** The most replies that one run of a script lets go. */
const mostDropped = 1000;
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
 * Lets the oldest replies of an account go until `most` bytes are left. Their claims stay, so that no call runs again. A member of `replies` is
 * the digest of a claim and what it takes, by the end of its life. What is over is forgotten first, since its claim may be a new one by now.
 */
const makeRoom = `
local function let_go(replies, member, prefix)
  local digest, size = string.match(member, '^(%S+) (%d+)$')
  if prefix then redis.call('HDEL', prefix .. digest, 'b') end
  redis.call('ZREM', replies, member)
  return tonumber(size)
end
local function make_room(bytes_key, replies, prefix, most)
  local bytes = tonumber(redis.call('GET', bytes_key) or 0)
  for _, over in ipairs(redis.call('ZRANGEBYSCORE', replies, '-inf', now, 'LIMIT', 0, ${mostDropped})) do
    bytes = bytes - let_go(replies, over)
  end
  if bytes > most then
    for _, oldest in ipairs(redis.call('ZRANGE', replies, 0, ${mostDropped - 1})) do
      if bytes <= most then break end
      bytes = bytes - let_go(replies, oldest, prefix)
    end
  end
  if redis.call('ZCARD', replies) == 0 then return 0 end
  return math.max(0, bytes)
end
local function keep_sum(bytes_key, replies, bytes)
  redis.call('SET', bytes_key, string.format('%.0f', bytes), 'PX', ${lifeMs + lastWordMs})
  redis.call('PEXPIRE', replies, ${lifeMs + lastWordMs})
end
`;

/**
 * KEYS: the claim, bytes and replies of the account. ARGV: as for `own`, then the reference of the reply, the reply or an empty text, the
 * digest of the claim, and what the claims of the account begin with. Returns 0 if the claim has another owner; else 1 if the reply was not
 * kept, 2 if it was, and the bytes that the account stores.
 */
const finish = `${head}${own}${makeRoom}
local size = #ARGV[5] + ${claimBytes}
local keeps = #ARGV[5] > 0 and size <= ${mostStoredBytes}
local bytes = make_room(KEYS[2], KEYS[3], ARGV[7], ${mostStoredBytes} - (keeps and size or 0))
keeps = keeps and bytes + size <= ${mostStoredBytes}
redis.call('HSET', KEYS[1], 's', 'done', 'r', ARGV[4])
if keeps then
  redis.call('HSET', KEYS[1], 'b', ARGV[5])
  redis.call('ZADD', KEYS[3], ends, ARGV[6] .. ' ' .. size)
  bytes = bytes + size
end
keep_sum(KEYS[2], KEYS[3], bytes)
keep_until(ends)
return {keeps and 2 or 1, bytes}
`;

/** KEYS: bytes and replies of the account. ARGV: the prefix of its claims, the bytes that may stay. Returns those that stay. */
const drop = `${head}${makeRoom}
local bytes = make_room(KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2]))
keep_sum(KEYS[1], KEYS[2], bytes)
return bytes
`;

/**
 * KEYS: what the accounts store, until when, and the sum. ARGV: an account, the bytes that it stores, the bytes that all may store.
 * Returns nothing if they store no more; else the account with the most, and the bytes that may stay of that.
 */
const sum = `${head}
local function set(account, bytes)
  local before = tonumber(redis.call('ZSCORE', KEYS[1], account) or 0)
  if bytes > 0 then
    redis.call('ZADD', KEYS[1], bytes, account)
    redis.call('ZADD', KEYS[2], now + ${lifeMs}, account)
  else
    redis.call('ZREM', KEYS[1], account)
    redis.call('ZREM', KEYS[2], account)
  end
  return redis.call('INCRBY', KEYS[3], string.format('%.0f', bytes - before))
end
for _, over in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, ${mostDropped})) do set(over, 0) end
local excess = set(ARGV[1], tonumber(ARGV[2])) - tonumber(ARGV[3])
if excess <= 0 then return {} end
local largest = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
return {largest[1], math.max(0, tonumber(largest[2]) - excess)}
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

export const claimScripts = { claim, renew, finish, free, drop, sum } as const;
