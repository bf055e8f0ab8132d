-- The last resort of a receipt: a completion whose sidecar did not finish still carries its degraded `gw` block.
--
-- Invariant: acts only when the sidecar said "a provider is being asked" (metadata gw.degraded) and never said "done".
-- The metadata namespace can be written by the sidecar alone; neither client nor provider can forge it.
-- Lua has no JSON, clock or ids worth using here, so the block arrives ready-made and is only spliced in.
--
-- A provider's own `gw` and `routing_trace` are renamed, at any depth and in any spelling.
--
-- Known gaps: a stream that ends without [DONE] gets no block (Lua cannot tell its end), and a key that the provider cut
-- into two pieces keeps its name.

local DONE = 'data: [DONE]'
local UPSTREAM_ERROR = @UPSTREAM_ERROR@
local RECEIPT_ERROR = @RECEIPT_ERROR@

-- What the sidecar would have let through.
local ALLOWED = { [':status'] = true, ['content-type'] = true, ['content-length'] = true, ['date'] = true }

-- On Envoy's own replies, for the sidecar.
local OWN_WORDS = { 'x-gw-credential-missing', 'x-gw-unhealthy' }

local function state(handle)
  return handle:streamInfo():dynamicMetadata():get('gw')
end

-- Tells the access log, and by it the ledger, which receipt the client has.
local function shown(handle)
  handle:streamInfo():dynamicMetadata():set('gw', 'shown', true)
end

local function apply_allow_list(headers, gw)
  local foreign = {}
  for name in pairs(headers) do
    if not ALLOWED[name] then foreign[#foreign + 1] = name end
  end
  for _, name in ipairs(foreign) do headers:remove(name) end
  headers:replace('x-gw-receipt-id', gw.receipt_id)
  -- Envoy adds it from the request, unless an attempt has taken it off there.
  if gw.request_id then headers:replace('x-request-id', gw.request_id) end
  if gw.reexecuted then headers:replace('idempotent-reexecuted', gw.reexecuted) end
  headers:replace('cache-control', 'no-store')
end

-- An ASCII letter in an escape, as a letter. `\\\\u0067` is no escape but a backslash and five letters.
local function unescape(slashes, hex)
  local letter = string.char(tonumber(hex, 16))
  if #slashes % 2 == 0 or not letter:match('[%a_]') then return nil end
  return slashes:sub(2) .. letter
end

-- Inside of a JSON string no quote stands without a backslash, so only keys match, or their ends, which are no keys of ours.
local PLAIN = { '"gw"', '"routing_trace"' }

-- By plain searches: patterns hold up a worker of Envoy for seconds where a body has many megabytes.
local function rename_key(text, key)
  local lower, out, from = text:lower(), {}, 1
  local at, last = lower:find(key, 1, true)
  while at do
    if text:find('^%s*:', last + 1) then
      out[#out + 1] = text:sub(from, at) .. 'provider_'
      from = at + 1
    end
    at, last = lower:find(key, at + 1, true)
  end
  if from == 1 then return text end
  out[#out + 1] = text:sub(from)
  return table.concat(out)
end

local function rename(text)
  local plain = text
  if text:find('\\u00', 1, true) then plain = text:gsub('(\\+)u00([4-7]%x)', unescape) end
  return rename_key(rename_key(plain, '"gw"'), '"routing_trace"')
end

-- Whether a piece of a stream could hold a key of ours. Searching for plain words is cheap, for patterns it is not.
local function is_suspect(text)
  local lower = text:lower()
  for _, key in ipairs(PLAIN) do
    if lower:find(key, 1, true) then return true end
  end
  return text:find('\\u00', 1, true) and text:find('\\u00[4-7]')
end

-- Splices `,"gw":…` in front of the last brace. Returns nil if the text is no JSON object.
local function splice(text, block)
  local before = text:match('^(.*)}%s*$')
  if not before then return nil end
  local comma = before:match('^%s*{%s*$') and '' or ','
  return before .. comma .. '"gw":' .. block .. '}'
end

local function finish_json(handle, status)
  local body = handle:body(true) -- the headers wait until the whole body is here
  local gw, headers = state(handle), handle:headers() -- what was fetched before the wait is out of scope after it
  if gw.done then return end
  apply_allow_list(headers, gw)
  local spliced = status == '200' and splice(rename(body:getBytes(0, body:length())), gw.degraded)
  if spliced then
    shown(handle)
  else -- nothing raw reaches the client
    -- 200 without a JSON object: perhaps a completion, but one that nobody can put a receipt into.
    local completed = status == '200'
    headers:replace(':status', completed and '500' or '502')
    headers:replace('content-type', 'application/json')
    spliced = completed and RECEIPT_ERROR or UPSTREAM_ERROR
  end
  body:setBytes(spliced) -- sets content-length too
end

local function ends_line(byte)
  return byte == 10 or byte == 13
end

-- Where a "data: [DONE]" line begins, or nil. A completion may hold the same words: only the start of a line counts.
local function done_line(text, at_line_start)
  local at = text:find(DONE, 1, true)
  while at do
    if (at == 1 and at_line_start) or ends_line(text:byte(at - 1)) then return at end
    at = text:find(DONE, at + 1, true)
  end
  return nil
end

-- How many bytes at the end of `text` may be the start of a "data: [DONE]" line.
local function unfinished(text, at_line_start)
  if ends_line(text:byte(-1)) then return 0 end -- the usual case: a whole event
  for length = math.min(#DONE - 1, #text), 1, -1 do
    local starts_line = ends_line(text:byte(-length - 1))
    if length == #text then starts_line = at_line_start end
    if starts_line and text:sub(-length) == DONE:sub(1, length) then return length end
  end
  return 0
end

local function finish_stream(handle, headers, gw)
  if not gw.headers_done then apply_allow_list(headers, gw) end
  headers:remove('content-length')
  local event = 'data: {"object":"' .. gw.chunk_object .. '","choices":[],"gw":' .. gw.degraded .. '}\n\n'
  local held, finished, cut, at_line_start = '', false, false, true
  for chunk in handle:bodyChunks() do
    local length = finished and 0 or chunk:length()
    if cut then
      chunk:setBytes('') -- nothing of the provider follows [DONE]
    elseif length > 0 then
      local text = held .. chunk:getBytes(0, length)
      -- The sidecar's own receipt, or what passes because the sidecar has died.
      if is_suspect(text) and not state(handle).done then
        text = rename(text)
        chunk:setBytes(text)
      end
      local at = done_line(text, at_line_start)
      if at then
        -- Reading the metadata costs more than all the rest here, so it waits for this moment.
        if not state(handle).done then
          chunk:setBytes(text:sub(1, at - 1) .. event .. DONE .. '\n\n')
          shown(handle)
          cut = true
        elseif held ~= '' then
          chunk:setBytes(text)
        end
        held, finished = '', true
      else
        local keep = unfinished(text, at_line_start)
        local out = text:sub(1, #text - keep)
        if keep > 0 or held ~= '' then chunk:setBytes(out) end
        held = keep > 0 and text:sub(-keep) or ''
        if #out > 0 then at_line_start = ends_line(out:byte(-1)) end
      end
    end
  end
end

function envoy_on_response(handle)
  local gw = state(handle)
  if not gw or not gw.degraded or gw.done then return end
  local headers = handle:headers()
  local status = headers:get(':status')
  -- Envoy's own replies carry no deployment and are our error object already.
  if not headers:get('x-gw-deployment') and not gw.headers_done then
    for _, name in ipairs(OWN_WORDS) do headers:remove(name) end
    return
  end
  local content_type = headers:get('content-type') or ''
  if status == '200' and content_type:sub(1, 17) == 'text/event-stream' then
    finish_stream(handle, headers, gw)
  else
    finish_json(handle, status)
  end
end
