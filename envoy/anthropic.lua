-- Speaks Anthropic's API at its edges: the key may come as `x-api-key`, the id of the request is shown as `request-id`, and an error of
-- whatever part has the body that its SDKs read.
--
-- Invariants: a key goes on in `authorization` alone, so that all behind this filter read and remove one header. A body is rewritten only
-- if it is exactly an error as contract/errors.ts writes it.
--
-- Known gap: Envoy's own replies to a provider's reply that has begun pass no filter, nor do those of the sidecar then; they are
-- written in this form where they are made.

local TYPES, OTHER = @TYPES@, @OTHER@

function envoy_on_request(handle)
  local headers = handle:headers()
  -- Clients of both APIs list models.
  if headers:get(':path'):find('^/+v1/+models') and not headers:get('anthropic-version') then
    handle:streamInfo():dynamicMetadata():set('anthropic', 'reads', false)
  end
  local key = headers:get('x-api-key')
  if not key then return end
  if not headers:get('authorization') then headers:replace('authorization', 'Bearer ' .. key) end
  headers:remove('x-api-key')
end

function envoy_on_response(handle)
  local told = handle:streamInfo():dynamicMetadata():get('anthropic')
  if told and told.reads == false then return end
  local headers = handle:headers()
  local id = headers:get('x-request-id')
  if id then headers:replace('request-id', id) end
  local status = headers:get(':status')
  if tonumber(status) < 400 then return end
  local body = handle:body(true) -- the headers wait until the whole body is here
  local code, rest = body:getBytes(0, body:length()):match('^{"error":{"code":"([%w_]+)","type":"[%w_]+",(.*)}}%s*$')
  if not code then return end
  local request = id and id:match('^[%w-]+$') and '"' .. id .. '"' or 'null'
  body:setBytes(
    '{"type":"error","error":{"type":"' .. (status == '404' and 'not_found_error' or TYPES[code] or OTHER) .. '","code":"' .. code .. '",' .. rest .. '},"request_id":' .. request .. '}'
  )
end
