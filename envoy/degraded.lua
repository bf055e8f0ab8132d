-- The last resort of a receipt: a completion whose sidecar did not finish still carries its degraded `gw` block.
--
-- Invariant: acts only when the sidecar said "a provider is being asked" (metadata gw.degraded) and never said "done".
-- The metadata namespace can be written by the sidecar alone; neither client nor provider can forge it.
-- Lua has no JSON, clock or ids worth using here, so the block arrives ready-made and is only spliced in.
--
-- Known gaps: a stream that ends without [DONE] gets no block (Lua cannot tell its end), and a provider's own `gw`
-- stays as an earlier duplicate key (parsers take the last).

local DONE = 'data: [DONE]'
local ERROR_BODY = @UPSTREAM_ERROR@

-- What the sidecar would have let through.
local ALLOWED = { [':status'] = true, ['content-type'] = true, ['content-length'] = true, ['cache-control'] = true, ['date'] = true }

local function state(handle)
  return handle:streamInfo():dynamicMetadata():get('gw')
end

local function apply_allow_list(headers, receipt_id)
  local foreign = {}
  for name in pairs(headers) do
    if not ALLOWED[name] then foreign[#foreign + 1] = name end
  end
  for _, name in ipairs(foreign) do headers:remove(name) end
  headers:replace('x-gw-receipt-id', receipt_id)
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
  apply_allow_list(headers, gw.receipt_id)
  local spliced = status == '200' and splice(body:getBytes(0, body:length()), gw.degraded)
  if not spliced then -- a provider's error, or no JSON: nothing raw reaches the client
    headers:replace(':status', '502')
    headers:replace('content-type', 'application/json')
    spliced = ERROR_BODY
  end
  body:setBytes(spliced) -- sets content-length too
end

-- How many bytes at the end of `text` may be the start of a "data: [DONE]" line.
local function unfinished(text)
  for length = math.min(#DONE - 1, #text), 1, -1 do
    local at_line_start = length == #text or text:sub(-length - 1, -length - 1) == '\n'
    if at_line_start and text:sub(-length) == DONE:sub(1, length) then return length end
  end
  return 0
end

local function finish_stream(handle, headers, gw)
  if not gw.headers_done then apply_allow_list(headers, gw.receipt_id) end
  headers:remove('content-length')
  local event = 'data: {"object":"' .. gw.chunk_object .. '","choices":[],"gw":' .. gw.degraded .. '}\n\n'
  local held, finished = '', false
  for chunk in handle:bodyChunks() do
    if not finished then
      local length = chunk:length()
      local text = held .. (length > 0 and chunk:getBytes(0, length) or '')
      local at = text:find(DONE, 1, true)
      if state(handle).done then
        if held ~= '' then chunk:setBytes(text) end
        held, finished = '', true
      elseif at then
        chunk:setBytes(text:sub(1, at - 1) .. event .. text:sub(at))
        held, finished = '', true
      else
        local keep = unfinished(text)
        if keep > 0 or held ~= '' then
          held = keep > 0 and text:sub(-keep) or ''
          chunk:setBytes(text:sub(1, #text - keep))
        end
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
  if not headers:get('x-gw-deployment') and not gw.headers_done then return end
  local content_type = headers:get('content-type') or ''
  if status == '200' and content_type:sub(1, 17) == 'text/event-stream' then
    finish_stream(handle, headers, gw)
  else
    finish_json(handle, status)
  end
end
