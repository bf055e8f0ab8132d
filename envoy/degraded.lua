-- The last resort of a receipt: a completion whose sidecar did not finish still carries its degraded `gw` block.
--
-- Invariant: acts only when the sidecar said "a provider is being asked" (metadata gw.degraded) and never said "done".
-- The metadata namespace can be written by the sidecar alone; neither client nor provider can forge it.
-- Lua has no JSON, clock or ids worth using here, so the block arrives ready-made and is only spliced in.
--
-- A reply that the sidecar would have translated cannot go on without it, since what follows is in the words of another API. A whole reply
-- becomes an error, and a stream ends with one. It has no receipt of its own; the ledger closes the call.
--
-- A provider's own `gw`, `routing_trace` and `__proto__` are renamed, at any depth and in any spelling.
--
-- Known gaps: a stream without its end event that ends with trailers gets no block; a key that the provider cut into two pieces
-- keeps its name in a line above 64 KiB.

-- Bounds the kept part of a line that has no end yet, in bytes.
local LONGEST_LINE = 65536
-- A shorter piece of a stream is read together with what came before it.
local SHORT = 512
local UPSTREAM_ERROR = @UPSTREAM_ERROR@
local RECEIPT_ERROR = @RECEIPT_ERROR@
local FINISHED = @FINISHED@
local IDENTITY, LEASED_LIMITS = @IDENTITY@, @LEASED_LIMITS@
local LIMIT_SHOWN = 'x-ratelimit-limit-requests'

-- The sidecar lets the same headers through.
local ALLOWED = { [':status'] = true, ['content-type'] = true, ['content-length'] = true, ['date'] = true }

-- On Envoy's own replies, for the sidecar.
local OWN_WORDS = { 'x-gw-credential-missing', 'x-gw-unhealthy', 'x-gw-not-ready', 'x-gw-request-us' }

local function state(handle)
  return handle:streamInfo():dynamicMetadata():get('gw')
end

-- Tells the access log, and by it the ledger, which receipt the client has.
local function shown(handle)
  handle:streamInfo():dynamicMetadata():set('gw', 'shown', true)
end

-- The limits of a call that a lease has let in: as the sidecar has decided them when a provider was asked, before that as they were
-- when the lease was given. Those of all other calls are added by the filter that has asked about them.
local function show_leased_limits(handle, headers)
  local metadata = handle:streamInfo():dynamicMetadata()
  local leased = (metadata:get(IDENTITY) or {})[LEASED_LIMITS]
  if not leased then return end
  local decided = metadata:get('gw') or {}
  for name, value in leased:gmatch('([^ =]+)=([^ ]+)') do headers:replace(name, decided[name] or value) end
end

local function apply_allow_list(handle, headers, gw)
  local foreign = {}
  for name in pairs(headers) do
    if not ALLOWED[name] then foreign[#foreign + 1] = name end
  end
  for _, name in ipairs(foreign) do headers:remove(name) end
  if gw.receipt_id then headers:replace('x-gw-receipt-id', gw.receipt_id) end
  -- Envoy adds it from the request, unless an attempt has taken it off there.
  if gw.request_id then headers:replace('x-request-id', gw.request_id) end
  if gw.reexecuted then headers:replace('idempotent-reexecuted', gw.reexecuted) end
  headers:replace('cache-control', 'no-store')
  show_leased_limits(handle, headers)
  -- The sidecar decides those in tokens for all calls.
  for name, value in pairs(gw) do
    if name:find('x-ratelimit-', 1, true) == 1 then headers:replace(name, value) end
  end
end

-- An ASCII letter in an escape, as a letter. `\\\\u0067` is no escape but a backslash and five letters.
local function unescape(slashes, hex)
  local letter = string.char(tonumber(hex, 16))
  if #slashes % 2 == 0 or not letter:match('[%a_]') then return nil end
  return slashes:sub(2) .. letter
end

-- Inside of a JSON string no quote stands without a backslash, so only keys match, or their ends, which are no keys of ours.
local PLAIN = { '"gw"', '"routing_trace"', '"__proto__"' }

-- Uses plain searches: patterns block a worker of Envoy for seconds where a body has many megabytes.
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
  for _, key in ipairs(PLAIN) do plain = rename_key(plain, key) end
  return plain
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

-- Whether the sidecar would have translated the reply. The sidecar has said which deployments speak another API, and once it has
-- answered the headers, which no longer name the deployment, whether this one does.
local function is_foreign(headers, gw)
  if gw.headers_done then return gw.is_translated end
  local deployment = headers:get('x-gw-deployment')
  return gw.translated and deployment and (' ' .. gw.translated .. ' '):find(' ' .. deployment .. ' ', 1, true)
end

local function finish_json(handle, status, foreign)
  local body = handle:body(true) -- the headers wait until the whole body is here
  local gw, headers = state(handle), handle:headers() -- what was fetched before the wait is out of scope after it
  if gw.done then return end
  apply_allow_list(handle, headers, gw)
  -- A call without a receipt has none to splice in, and nothing of it is lost.
  local completed = status == '200' and gw.degraded ~= ''
  local spliced = completed and not foreign and splice(rename(body:getBytes(0, body:length())), gw.degraded)
  if spliced then
    shown(handle)
  else -- nothing raw reaches the client
    -- 200 without a JSON object: perhaps a completion, but one that nobody can put a receipt into.
    headers:replace(':status', completed and '500' or '502')
    headers:replace('content-type', 'application/json')
    spliced = completed and RECEIPT_ERROR or UPSTREAM_ERROR
  end
  body:setBytes(spliced) -- sets content-length too
end

local function ends_line(byte)
  return byte == 10 or byte == 13
end

-- Whether a text ends with an empty line, or is empty.
local function ends_event(text)
  return text == '' or text:find('\n\r?\n$') or text:find('\r\r$')
end

-- Where the line of the event begins that ends a stream, whose data are `done`; or nil. A completion may hold the same words:
-- only the start of a line counts.
local function done_line(text, at_line_start, done)
  if done == '' then return nil end
  local at = text:find(done, 1, true)
  while at do
    local last = text:byte(at - 1) == 32 and at - 2 or at - 1
    local first = last - 4
    local starts_line = first == 1 and at_line_start or first > 1 and ends_line(text:byte(first - 1))
    if starts_line and text:sub(first, last) == 'data:' then return first end
    at = text:find(done, at + 1, true)
  end
  return nil
end

-- The place of the quote that ends the string which begins at `from`, or nil.
local function end_of_string(text, from)
  local at = from
  repeat
    at = text:find('["\\]', at + 1)
    if not at then return nil end
    local is_quote = text:byte(at) == 34
    if not is_quote then at = at + 1 end -- what an escape says is no quote
  until is_quote
  return at
end

-- Match values that are not empty: some providers begin with a chunk of empty names.
local SAYS = { id = '^"[^"]', created = '^[1-9]', model = '^"[^"]' }
local LONGEST_VALUE = { id = 256, created = 14, model = 256 }

-- The JSON text of the value behind a key, or nil.
local function value_behind(text, key, key_end)
  local at = text:match('^%s*:%s*()', key_end + 1)
  if not at or not text:find(SAYS[key], at) then return nil end
  local last = at + #text:match('^%d*', at) - 1
  if key ~= 'created' then last = end_of_string(text, at) end
  return last and last - at <= LONGEST_VALUE[key] and text:sub(at, last) or nil
end

-- Adds `id`, `created` and `model` of the object that begins at a place, as JSON texts, to those that are known.
local function add_origin(fields, text, from)
  local depth, at = 0, from
  while at do
    local byte = text:byte(at)
    if byte == 34 then
      local last = end_of_string(text, at)
      if not last then return end
      local key = depth == 1 and text:sub(at + 1, last - 1)
      if SAYS[key] then fields[key] = fields[key] or value_behind(text, key, last) end
      at = last
    elseif byte == 123 or byte == 91 then
      depth = depth + 1
    else
      depth = depth - 1
      if depth == 0 then return end
    end
    at = text:find('["{}%[%]]', at + 1)
  end
end

-- The event that carries the block, in the name of its stream: by the first of the chunks that say it, else by the receipt.
-- The sidecar says what it looks like (`LastResort` of receipt-sidecar/api/port/shape.ts).
local function receipt_event(gw, first, last)
  local origin, member = {}, gw.carrier_member or ''
  local begin = member == '' and 'data:%s*(){' or '"' .. member .. '"%s*:%s*(){'
  for _, text in ipairs({ first, last }) do
    for at in text:gmatch(begin) do add_origin(origin, text, at) end
  end
  local asked = {}
  add_origin(asked, gw.degraded, 1)
  local uuid = gw.receipt_id:gsub('^rcpt_', '')
  local ms = tonumber((uuid:sub(1, 13):gsub('-', '')), 16) or 0 -- a UUIDv7 begins with its time
  local values = {
    stop_reason = last:match('"stop_reason"%s*:%s*("[%w_]+")') or 'null',
    -- Without the anchor a text that lacks it is searched from each of its letters, which holds up Envoy's worker.
    output_tokens = last:match('^.*"output_tokens"%s*:%s*(%d+)') or '0',
    id = origin.id or '"' .. gw.id_prefix .. uuid .. '"',
    created = origin.created or tostring(math.floor(ms / 1000)),
    model = origin.model or asked.model or '""',
    gw = gw.degraded,
  }
  return (gw.stream_event:gsub('@([%a_]+)@', values))
end

-- How much of a text to hold back: a line without its end, of which a key or the words of the end may have been cut.
-- The sidecar writes whole lines, so only where it has died there is any.
local function unfinished(text)
  if ends_line(text:byte(-1)) then return 0 end
  local length = #text - (text:match('^.*[\r\n]()') or 1) + 1
  return length <= LONGEST_LINE and length or 0
end

-- Where an event of these names has its data, which carry the receipt: it is known by the line of its name, or by the beginning of its data.
-- `was_named`: the text in front of this one ended with the line of such a name. Returns as well whether this one does.
local function carrier_line(text, at_line_start, names, was_named)
  if was_named and text:find('^data:') then return 1 end
  local is_named = false
  for _, name in ipairs(names) do
    local at = text:find(name, 1, true)
    while at do
      local line = text:sub(1, at - 1):match('^.*[\r\n]()') or at_line_start and 1
      local before, behind = line and text:sub(line, at - 1) or '', text:sub(at + #name, at + #name)
      if before:find('^event: ?$') and behind:find('[\r\n]') then
        local data = text:find('[\r\n]data:', at)
        if data then return data + 1 end
        is_named = true
      elseif behind == '"' and before:find('^data:%s*{%s*"type"%s*:%s*"$') then
        return line
      end
      at = text:find(name, at + 1, true)
    end
  end
  return nil, is_named
end

-- Splices the block into the first event that carries it, in front of all else, since the rest of its line can be long.
local function splice_carrier(text, line, gw)
  local member = gw.carrier_member
  local brace
  if member == '' then
    brace = text:find('{', line, true)
  else
    _, brace = text:find('"' .. member .. '"%s*:%s*{', line)
  end
  if not brace then return nil end
  local comma = text:find('^%s*}', brace + 1) and '' or ','
  return text:sub(1, brace) .. '"gw":' .. gw.degraded .. comma .. text:sub(brace + 1)
end

-- Carries the block in a stream whose API has events for it, if the sidecar has not done so.
local function carrier_of(handle, gw)
  local names, is_named, is_given = {}, false, false
  for name in (gw.carriers or ''):gmatch('%S+') do names[#names + 1] = name end
  return function(text, at_line_start)
    if #names == 0 or is_given or text == '' then return text, is_given end
    local line
    line, is_named = carrier_line(text, at_line_start, names, is_named)
    local spliced = line and not state(handle).done and splice_carrier(text, line, state(handle))
    if not spliced then return text, false end
    is_given = true
    shown(handle)
    return spliced, true
  end
end

-- Ends a stream whose provider has left its end event out, and perhaps the end of its last line. Envoy tells that a chunk was the
-- last while it can still be written to, unless trailers follow: then there is nothing to write to.
local function finish_unended(handle, chunk, first, last, held, carry)
  local rest, is_given = carry(held:find('}%s*$') and rename(held) .. '\n\n' or '', true)
  if rest == '' and not ends_event(last) then rest = '\n' end
  local is_written = pcall(function()
    local event = is_given and '' or receipt_event(state(handle), first, last .. rest)
    chunk:setBytes(chunk:getBytes(0, chunk:length()) .. rest .. event)
  end)
  if is_written then shown(handle) end
end

local function finish_stream(handle, headers, gw)
  if not gw.headers_done then apply_allow_list(handle, headers, gw) end
  headers:remove('content-length')
  local done, carry = gw.stream_end, carrier_of(handle, gw)
  local first, last, held, is_over, at_line_start, at_hand = '', '', '', false, true, nil
  for chunk in handle:bodyChunks() do
    local length = chunk:length()
    at_hand = chunk
    if is_over then
      if length > 0 then chunk:setBytes('') end -- nothing of the provider follows the end
    elseif length > 0 then
      local read = chunk:getBytes(0, length)
      local text = held == '' and read or held .. read
      local at = done_line(text, at_line_start, done)
      local keep = at and #text - at + 1 or unfinished(text)
      local out = keep == 0 and text or text:sub(1, #text - keep)
      if #out > 0 then last = #out < SHORT and (last .. out):sub(-SHORT) or out end
      if first == '' and out:find('data:', 1, true) then first = out end
      -- The sidecar's own receipt, or what passes because the sidecar has died.
      if is_suspect(out) and not state(handle).done then out = rename(out) end
      local is_given
      out, is_given = carry(out, at_line_start)
      -- For the filter that ends replies: the sidecar cannot tell it any more.
      if is_given and #out > 0 and ends_event(last) then handle:streamInfo():dynamicMetadata():set('gw', 'over', true) end
      if at then
        is_over, held = true, ''
        -- Reading the metadata costs more than all the rest here, so it waits for this moment.
        if state(handle).done then
          out = text
        else
          out = out .. receipt_event(state(handle), first, last) .. gw.stream_end_event
          shown(handle)
          handle:streamInfo():dynamicMetadata():set('gw', 'over', true)
        end
      else
        held = keep == 0 and '' or text:sub(-keep)
        if #out > 0 then at_line_start = ends_line(out:byte(-1)) end
      end
      if out ~= read then chunk:setBytes(out) end
    end
  end
  if not is_over and at_hand and not state(handle).done then finish_unended(handle, at_hand, first, last, held, carry) end
end

-- Passes what the sidecar has translated. What comes without it is dropped: the client gets `lost` in its place, and the reply ends.
local function end_foreign(handle, lost)
  local answers, is_over, at_hand = 0, false, nil
  local function finish(chunk)
    is_over = true
    chunk:setBytes(lost)
    handle:streamInfo():dynamicMetadata():set('gw', 'over', true)
  end
  for chunk in handle:bodyChunks() do
    at_hand = chunk
    if is_over then
      chunk:setBytes('')
    elseif chunk:length() > 0 then
      local gw = state(handle)
      if gw.done then return end
      if (gw.answers or 0) == answers then finish(chunk) else answers = gw.answers end
    end
  end
  if not is_over and at_hand and not state(handle).done then pcall(finish, at_hand) end
end

local function finish_foreign(handle, headers, gw)
  headers:remove('content-length')
  if gw.headers_done then return end_foreign(handle, gw.lost_event) end
  apply_allow_list(handle, headers, gw)
  headers:replace(':status', '500')
  headers:replace('content-type', 'application/json')
  end_foreign(handle, RECEIPT_ERROR)
end

function envoy_on_response(handle)
  local headers = handle:headers()
  -- Most replies: reading the metadata costs more than all the rest here.
  if headers:get(FINISHED) then
    headers:remove(FINISHED)
    return
  end
  if not headers:get(LIMIT_SHOWN) then show_leased_limits(handle, headers) end
  local gw = state(handle)
  if not gw or not gw.degraded or gw.done then return end
  local status = headers:get(':status')
  -- Envoy's own replies carry no deployment and are our error object already.
  if not headers:get('x-gw-deployment') and not gw.headers_done then
    for _, name in ipairs(OWN_WORDS) do headers:remove(name) end
    return
  end
  local content_type = headers:get('content-type') or ''
  -- Only an API with streams has a form for their events.
  local foreign = is_foreign(headers, gw)
  if status ~= '200' or not gw.stream_event or content_type:sub(1, 17) ~= 'text/event-stream' then
    finish_json(handle, status, foreign)
  elseif foreign then
    finish_foreign(handle, headers, gw)
  else
    finish_stream(handle, headers, gw)
  end
end
