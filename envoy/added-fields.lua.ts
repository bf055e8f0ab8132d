/**
 * Asks a provider again without a field that the gateway has added and that the provider refuses: a filter of each try behind the listener
 * of a deployment. The sidecar says which fields these are and where they stand (`attemptAdded`).
 *
 * Invariant: it takes nothing out of a body but these fields, and reads a reply only if it is an error of a call that has them. Each retry
 * leaves out at least one more field.
 */
import { bodyRoots, clientParts, wordsBeforeField, wordsBehindField } from '@gw/contract/internal/added-field-words';
import { attemptAdded, attemptHeader, refusedFieldsHeader } from '@gw/contract/internal/attempt-headers';
import { luaFilter, overwriting } from './attempt-filters.ts';
import { luaString } from './lua-string.ts';
import { typed } from './typed.ts';

/** Set on a reply, for the router alone. */
const askAgain = 'x-gw-ask-again';

const list = (words: readonly string[]): string => `{ ${words.map(luaString).join(', ')} }`;
const set = (words: readonly string[]): string =>
  `{ ${words.map((word) => `[${luaString(word)}] = true`).join(', ')} }`;

const script = `
-- Refusals are short; the echo of a whole request can follow.
local LONGEST = 65536
local NEARBY = 200
local ROOTS, PARTS = ${set(bodyRoots)}, ${list(clientParts)}
local BEFORE, BEHIND = ${set(wordsBeforeField)}, ${set(wordsBehindField)}

-- Whether a name is one of a field between what stands in front of it and behind it.
local function is_field(front, behind, name)
  if front:find('[%w_-]$') or behind:find('^[%w_]') then return false end
  for _, part in ipairs(PARTS) do
    if front:find('%f[%w_]' .. part .. '%f[^%w_]') then return false end
  end
  local root = front:match([=[([^%s'"\`./(,]*)[./]$]=])
  if root and root ~= '' and not ROOTS[root] then return false end
  if name:find('_') or (front:find([=[['"\`]$]=]) and behind:find([=[^['"\`]]=])) then return true end
  -- Behind the end of a line or a sentence, and in a list.
  if front:find('^%s*$') or front:find([=[[:;.,#=>*'"\`(%[{%c]%s*$]=]) or behind:find('^%s*[:=]') then return true end
  return BEFORE[front:match('([%w_]+)%s+$')] or BEHIND[behind:match('^%s+([%w_]+)')] or false
end

-- Whether the words of a refusal name a field. Names are also written as one word, or as several.
local function is_named(text, name)
  local pattern = name:gsub('_', '[_ %%-]?')
  local from, to = text:find(pattern)
  while from do
    if is_field(text:sub(math.max(1, from - NEARBY), from - 1), text:sub(to + 1, to + NEARBY), name) then return true end
    from, to = text:find(pattern, to + 1)
  end
  return false
end

local function is_field_or_in(param, name)
  local place = param:gsub('^/', ''):gsub('^body[./]', ''):gsub('^%$%.', '')
  return place == name or (place:sub(1, #name) == name and place:find('^[.%[/]', #name + 1) ~= nil)
end

-- Returns a function that tells whether a refusal, in lower case, is about a field: by the one that it names as such, or by its words.
local function aboutness(text)
  local param = text:match('"param"%s*:%s*"([^"]+)"')
  if param then return function(name) return is_field_or_in(param, name) end end
  local plain = text:gsub('\\\\[nrt]', '\\n'):gsub('\\\\"', '"')
  -- Pydantic lists the place of each fault.
  local places, has_places = {}, false
  for place in plain:gmatch([=[%f[%w]loc['"]?%s*:%s*[%[(]%s*([^%])]*)]=]) do
    local first = place:gsub([=[^['"]body['"]%s*,%s*]=], ''):match([=[^['"]([%w_]+)]=])
    if first then
      places[first] = true
      has_places = true
    end
  end
  if has_places then return function(name) return places[name] or false end end
  return function(name) return is_named(plain, name) end
end

local function any_of(words, is_about)
  for word in words:gmatch('[^/]+') do
    if is_about(word) then return true end
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
  local is_about = aboutness(text)
  local refused = gw.refused or ','
  local before = refused
  for words in gw.added:gmatch('(%S+) %d+ %d+') do
    local name = words:match('^[^/]+')
    if not refused:find(',' .. name .. ',', 1, true) and any_of(words, is_about) then refused = refused .. name .. ',' end
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
