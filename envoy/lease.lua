-- Admits calls of busy keys by leases of ext-authz, so that it is not asked about each call.
--
-- Invariants: only a lease of ext-authz admits a call, for the number of calls and the time that it states, counted from the request for
-- it. All other calls, and all calls if something here fails, go to ext_authz, the next filter, which alone refuses. An admitted call has
-- metadata that no client can set, which makes the next filter skip it.
--
-- The next lease is requested while the last one still has calls, so that these are admitted meanwhile. Each lease has its own calls and
-- time.
--
-- Each worker of Envoy has its own leases. They are keyed by the whole header, since Lua has no hash function, and stay in memory until
-- other keys displace them.

local ASK = { [':method'] = 'POST', [':path'] = @PATH@, [':authority'] = 'gw', ['content-type'] = 'application/grpc', te = 'trailers' }
local SCOPE = @SCOPE@
local NAMESPACE, CALLER, LIMITS = @NAMESPACE@, @CALLER@, @LIMITS@
local LIMITS_DECIDED = @LIMITS_DECIDED@
-- In milliseconds.
local LIFE, BUSY, PAUSE, PATIENCE = @LIFE@, @BUSY@, @PAUSE@, 300
-- Larger bodies are not free, so the key check decides them.
local LARGEST_BODY = @LARGEST_BODY@
local LONGEST_KEY, MOST_KEYS = 256, 4096
-- The next lease can be requested when at most this part of a lease is left.
local EARLY = 2 / 3
-- Failed requests after which this worker pauses: ext-authz is unavailable, or many keys are made up.
local MOST_IN_VAIN = 20

local leases, known, latest = {}, 0, 0
local in_vain, first_in_vain = 0, 0

local function keep(key, lease)
  if not leases[key] then
    -- A flood of keys only makes busy ones request a lease again.
    if known == MOST_KEYS then leases, known = {}, 0 end
    known = known + 1
  end
  leases[key] = lease
end

-- Returns the time. A clock that was set back would make expired leases valid again.
local function time(handle)
  local now = handle:timestamp()
  if now < latest then leases, known, in_vain, first_in_vain = {}, 0, 0, 0 end
  latest = now
  return now
end

-- A gRPC message: no compression, length, bytes.
local function framed(text)
  return string.char(0, 0, 0, math.floor(#text / 256), #text % 256) .. text
end

-- Requests a lease while this call waits. It fails silently, since the key check then reports the problem.
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

-- Whether its calls will be used up before its time is over, at the current pace.
local function is_ending(lease, now)
  local used = lease.calls - lease.left
  return lease.left <= EARLY * lease.calls and used * (lease.over - now) > lease.left * (now - lease.asked)
end

-- Returns the next lease if there is one, otherwise this one.
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
  -- Envoy joins two such headers, which gives no valid key.
  if not key or #key > LONGEST_KEY then return end
  -- A missing header returns no value, not even nil.
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
      -- Other calls do not wait for the answer, nor request another lease during the pause.
      lease.rest = now + PAUSE
      local after = ask(handle, key, now)
      headers = handle:headers() -- what was fetched before the wait is out of scope after it
      now = time(handle)
      -- All leases were dropped meanwhile, perhaps because the clock was set back, so this one is not valid either.
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
