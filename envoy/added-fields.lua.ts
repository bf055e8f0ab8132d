/**
 * Asks a provider again without a field that the gateway has added and that the provider refuses: a filter of each try behind the listener
 * of a deployment. The sidecar says which fields these are and where they stand (`attemptAdded`).
 *
 * Invariant: it takes nothing out of a body but these fields, and reads a reply only if it is an error of a call that has them. Each retry
 * leaves out at least one more field.
 */
import { attemptAdded, attemptHeader, refusedFieldsHeader } from '@gw/contract/internal/attempt-headers';
import { luaFilter, overwriting } from './attempt-filters.ts';
import { luaString } from './lua-string.ts';
import { typed } from './typed.ts';

/** Set on a reply, for the router alone. */
const askAgain = 'x-gw-ask-again';

const script = `
-- Refusals are short; the echo of a whole request can follow.
local LONGEST = 65536

local function names(text, words)
  for word in words:gmatch('[^/]+') do
    -- Names are also written as one word, or as several.
    if text:find((word:gsub('_', '.?'))) then return true end
  end
  return false
end

function envoy_on_request(handle)
  local gw = handle:streamInfo():dynamicMetadata():get('gw')
  if not gw or not gw.refused then return end
  local body = handle:body()
  local text = body:getBytes(0, body:length())
  local kept, from = {}, 1
  for words, at, length in gw.added:gmatch('(%S+) (%d+) (%d+)') do
    if gw.refused:find(',' .. words:match('^[^/]+') .. ',', 1, true) then
      kept[#kept + 1] = text:sub(from, at)
      from = at + length + 1
    end
  end
  kept[#kept + 1] = text:sub(from)
  body:setBytes(table.concat(kept))
end

function envoy_on_response(handle)
  local status = tonumber(handle:headers():get(':status'))
  if status ~= 400 and status ~= 422 and status ~= 500 and status ~= 501 then return end
  local gw = handle:streamInfo():dynamicMetadata():get('gw')
  if not gw or not gw.added then return end
  local body = handle:body()
  if not body then return end
  local text = body:getBytes(0, math.min(body:length(), LONGEST)):lower()
  local refused = gw.refused or ','
  local before = refused
  for words in gw.added:gmatch('(%S+) %d+ %d+') do
    local name = words:match('^[^/]+')
    if not refused:find(',' .. name .. ',', 1, true) and names(text, words) then refused = refused .. name .. ',' end
  end
  if refused == before then return end
  -- The metadata from before the wait for the body cannot be used any more.
  handle:streamInfo():dynamicMetadata():set('gw', 'refused', refused)
  handle:headers():replace(${luaString(askAgain)}, '1')
end
`;

const addedTo = (deploymentId: string): string => attemptHeader(attemptAdded, deploymentId);

/** A part of the listener's script, which lets the filter know of the fields. */
export const rememberAdded = (deploymentId: string): string => `
  local added = headers:get(${luaString(addedTo(deploymentId))})
  if added then handle:streamInfo():dynamicMetadata():set('gw', 'added', added) end
`;

/** For the router of a listener. */
export const askingAgain: readonly object[] = [
  luaFilter(script),
  {
    name: 'envoy.filters.http.upstream_codec',
    typed_config: typed('envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec'),
  },
];

/** Returns the route for calls with such fields beside the one for all others, which needs no copy of the body. */
export function askableRoute<T extends { readonly match: object; readonly route: object }>(
  deploymentId: string,
  route: T & { readonly response_headers_to_add: readonly object[] },
): object {
  return {
    ...route,
    match: { ...route.match, headers: [{ name: addedTo(deploymentId), present_match: true }] },
    route: {
      ...route.route,
      retry_policy: {
        retry_on: 'retriable-headers',
        retriable_headers: [{ name: askAgain, present_match: true }],
        // One for each field that the gateway adds.
        num_retries: 3,
        retry_back_off: { base_interval: '0.001s' },
      },
    },
    response_headers_to_add: [
      ...route.response_headers_to_add,
      overwriting(refusedFieldsHeader, '%DYNAMIC_METADATA(gw:refused)%'),
    ],
  };
}
