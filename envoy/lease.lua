-- Leases: lets a call of a key in that ext-authz has just let in, so that it is not asked about each call of a busy key.
--
-- Invariants: only what ext-authz has said lets a call in, for as many calls and for as long as it said, counted from when it
-- was asked; whatever else comes goes to ext_authz, the next filter, which alone refuses, and so does every call if something
-- here fails. A call that is let in here has metadata that no client can set, and by that the next filter does not ask.
--
-- The next lease is asked for while the last one still has calls, so that others need not be asked about until it is there. Each is
-- good for its own calls and its own time.
--
-- Each worker of Envoy has leases of its own. The header itself is the name of a lease: Lua has no digest. It is in this memory
-- for as long as others have not taken its place.

local ASK = { [':method'] = 'POST', [':path'] = @PATH@, [':authority'] = 'gw', ['content-type'] = 'application/grpc', te = 'trailers' }
local SCOPE = @SCOPE@
local NAMESPACE, CALLER, LIMITS = @NAMESPACE@, @CALLER@, @LIMITS@
local LIMITS_DECIDED = @LIMITS_DECIDED@
-- In milliseconds.
local LIFE, BUSY, PAUSE, PATIENCE = @LIFE@, @BUSY@, @PAUSE@, 300
-- Of larger bodies the bytes count, which the check of the key decides.
local LARGEST_BODY = @LARGEST_BODY@
local LONGEST_KEY, MOST_KEYS = 256, 4096
-- When no more than so much of a lease is left, the next one can be asked for.
local EARLY = 2 / 3
-- Questions in vain, after which this worker asks none for a pause: ext-authz is away, or many keys are made up.
local MOST_IN_VAIN = 20

local leases, known, latest = {}, 0, 0
local in_vain, first_in_vain = 0, 0

local function keep(key, lease)
  if not leases[key] then
    -- Who floods the gateway with keys makes busy ones ask once more, and no more than that.
    if known == MOST_KEYS then leases, known = {}, 0 end
    known = known + 1
  end
  leases[key] = lease
end

-- The time. A clock that was set back would make leases good again that are over.
local function time(handle)
  local now = handle:timestamp()
  if now < latest then leases, known, in_vain, first_in_vain = {}, 0, 0, 0 end
  latest = now
  return now
end

-- A message of gRPC: no compression, its length, its bytes.
local function framed(text)
  return string.char(0, 0, 0, math.floor(#text / 256), #text % 256) .. text
end

-- Asks ext-authz for a lease, while this call waits. It fails without a word: then the check of the key says what is wrong.
local function ask(handle, key, now)
  if now - first_in_vain >= PAUSE then in_vain, first_in_vain = 0, now end
  if in_vain >= MOST_IN_VAIN then return nil end
  in_vain = in_vain + 1
  local _, reply = handle:httpCall('ext_authz', ASK, framed(SCOPE .. '\n' .. key), PATIENCE)
  local calls, account, id, limits, caller = (reply or ''):match('^.....(%d+) (%S+) (%S+)[^\n]*\n([^\n]*)\n(.+)$')
  if not calls or tonumber(calls) < 1 then return nil end
  in_vain = in_vain - 1
  local lease = { calls = tonumber(calls), left = tonumber(calls), asked = now, over = now + LIFE, rest = 0 }
  lease.account, lease.id, lease.limits, lease.caller = account, id, limits, caller
  return lease
end

local function is_good(lease, now)
  return lease.left > 0 and now < lease.over
end

-- Whether its calls will be used up before its time is over, at the pace at which they have been used since it was asked for.
local function is_ending(lease, now)
  local used = lease.calls - lease.left
  return lease.left <= EARLY * lease.calls and used * (lease.over - now) > lease.left * (now - lease.asked)
end

-- The lease that was asked for before this one had ended; this one, if there is none.
local function followed(key, lease)
  local after = lease.after
  if not after then return lease end
  after.seen = lease.seen
  leases[key] = after
  return after
end

function envoy_on_request(handle)
  local headers = handle:headers()
  local key = headers:get('authorization')
  -- Of two such headers Envoy makes one text, which is no key.
  if not key or #key > LONGEST_KEY then return end
  -- A header that is not there is no value, not even nil.
  local length = tonumber(headers:get('content-length') or '')
  if not length or length > LARGEST_BODY then return end
  local now = time(handle)
  local lease = leases[key]
  if not lease then return keep(key, { seen = now, left = 0, over = 0, rest = 0 }) end
  if not is_good(lease, now) then lease = followed(key, lease) end
  if not is_good(lease, now) or is_ending(lease, now) then
    local is_busy = now - lease.seen < BUSY
    lease.seen = now
    if is_busy and now >= lease.rest then
      -- Others do not wait for the answer, and the next lease is over before another one could be asked for.
      lease.rest = now + PAUSE
      local after = ask(handle, key, now)
      headers = handle:headers() -- what was fetched before the wait is out of scope after it
      now = time(handle)
      -- All was forgotten meanwhile, by a clock that was set back perhaps, which no lease from before can be held against.
      if leases[key] ~= lease then return end
      lease.after = after
    end
    if not is_good(lease, now) then lease = followed(key, lease) end
    if not is_good(lease, now) then return end
  end
  lease.left, lease.seen = lease.left - 1, now
  local metadata = handle:streamInfo():dynamicMetadata()
  metadata:set(NAMESPACE, CALLER, lease.caller)
  metadata:set(NAMESPACE, 'account_id', lease.account)
  metadata:set(NAMESPACE, 'key_id', lease.id)
  metadata:set(NAMESPACE, LIMITS, lease.limits)
  headers:remove('authorization')
  headers:replace(LIMITS_DECIDED, '1')
end
