/**
 * Lua that recognises replies about the operator's own trouble with a provider, so that Envoy goes on to the next deployment: it decides
 * from the head of a reply, where a client's mistake and a missing model look alike (400, 404).
 *
 * Invariants: only failures that can be such a reply are held, until their body is whole; no other reply costs more than a look at its
 * status. If a reply with status 200 began with a failure, its words stand in a header (first-event.ts). A body is read as JSON as far as its
 * error object goes, so a client cannot cause a fault by words that a provider repeats. Where the words are unknown the reply goes to the
 * client as it is: fail open for the deployment, since the client's mistake is more likely.
 */
import { firstEventHeader } from '@gw/contract/internal/first-event';
import { operatorFaultField, operatorFaultHeader, operatorFaults } from '@gw/contract/internal/operator-faults';
import { safetyCodes, safetyPhrases } from '@gw/contract/internal/safety-words';
import { luaString } from './lua-string.ts';
import { faultWords, missingPhrases, unknownPlace } from './operator-fault-words.ts';

const list = (items: readonly string[]): string => `{ ${items.map(luaString).join(', ')} }`;
const set = (items: readonly string[]): string =>
  `{ ${items.map((item) => `[${luaString(item)}] = true`).join(', ')} }`;
const words = ({ codes, beginnings }: typeof unknownPlace): string =>
  `{ codes = ${set(codes)}, beginnings = ${list(beginnings)} }`;

/** Defines `mark_operator_fault(handle)`, which returns the fault or nil, for a filter's `envoy_on_response`. */
export const operatorFaultFunctions = `
local MOST_READ = 16384
local FAULTS = { ${operatorFaults.map((fault) => `${fault} = ${words(faultWords[fault])}`).join(', ')} }
local NO_PLACE = ${words(unknownPlace)}
local MISSING = ${list(missingPhrases)}
local SAFETY_CODES, SAFETY_PHRASES = ${set(safetyCodes)}, ${list(safetyPhrases)}

-- Which faults a reply with a status can tell by its words, in the order in which they are looked for.
local BY_WORDS = {
  ['400'] = { 'model_missing', 'quota_exhausted', 'auth_failed' },
  ['403'] = { 'quota_exhausted', 'model_missing' },
  ['404'] = { 'model_missing' },
  ['422'] = { 'model_missing' },
  ['429'] = { 'quota_exhausted' },
}
-- The status of a first event is a guess from its words.
local OF_FIRST_EVENT = { 'quota_exhausted', 'model_missing', 'auth_failed' }
local BY_STATUS = { ['401'] = 'auth_failed', ['402'] = 'quota_exhausted', ['405'] = 'model_missing', ['410'] = 'model_missing' }

-- Members of an error object that hold codes and texts, and those that hold further members.
local CODE = { code = true, type = true, status = true, reason = true, error = true, __type = true, error_code = true }
local TEXT = { message = true, error = true, detail = true, msg = true, title = true, error_msg = true }
local NESTED = { error = true, innererror = true, message = true, detail = true, details = true }

-- The place of the quote that ends the string which begins at \`from\`, or nil.
local function end_of_string(text, from)
  local at = from
  repeat
    at = text:find('["\\\\]', at + 1)
    if not at then return nil end
    local is_quote = text:byte(at) == 34
    if not is_quote then at = at + 1 end
  until is_quote
  return at
end

-- The codes and texts of an error object in JSON, in lower case; nil if the text is no JSON.
local function error_members(text)
  if not text:find('^%s*[{[]') then return nil end
  local codes, texts, open, name, param = {}, {}, {}, nil, nil
  local function note(value)
    if CODE[name] then codes[#codes + 1] = value end
    if TEXT[name] then texts[#texts + 1] = value end
    if name == 'param' then param = value end
  end
  local at = text:find('["{}%[%]]')
  while at do
    local byte = text:byte(at)
    if byte == 34 then
      local last = end_of_string(text, at)
      if not last then break end
      local value = text:sub(at + 1, last - 1)
      if text:find('^%s*:', last + 1) then
        name = value
        local number = open[#open] and text:match('^%s*:%s*(%d+)', last + 1)
        if number then note(number) end
      elseif open[#open] and name then
        note(value:lower())
      end
      at = last
    elseif byte == 123 or byte == 91 then
      open[#open + 1] = #open == 0 or open[#open] and (name == nil or NESTED[name] or false)
      name = byte == 91 and name or nil
    else
      open[#open] = nil
      name = nil
    end
    at = text:find('["{}%[%]]', at + 1)
  end
  return codes, texts, param
end

-- Takes off what proxies put in front of a message: "litellm.NotFoundError: OpenAIException - ", "Error code: 404 - ".
local function unwrapped(message)
  for _ = 1, 6 do
    local rest = message:match('^[%w%._/]+:%s+(.+)') or message:match('^[%w%._/]+ %- (.+)') or message:match('^error code: %d+ %- (.+)')
    if not rest then break end
    message = rest
  end
  return message
end

local function says(codes, texts, words)
  for _, code in ipairs(codes) do
    if words.codes[code] then return true end
  end
  for _, text in ipairs(texts) do
    local plain = unwrapped(text)
    for _, pattern in ipairs(words.beginnings) do
      if text:find(pattern) or plain:find(pattern) then return true end
    end
  end
  return false
end

local function is_about_safety(codes, texts)
  for _, code in ipairs(codes) do
    if SAFETY_CODES[code] then return true end
  end
  for _, text in ipairs(texts) do
    for _, phrase in ipairs(SAFETY_PHRASES) do
      if text:find(phrase, 1, true) then return true end
    end
  end
  return false
end

-- A refusal can name the model although it is there: one for sound takes no call without sound.
local function says_that_it_is_missing(texts)
  for _, text in ipairs(texts) do
    for _, phrase in ipairs(MISSING) do
      if text:find(phrase, 1, true) then return true end
    end
  end
  return #texts == 0
end

local function fault_of(status, body, possible)
  local codes, texts, param = error_members(body)
  -- An empty reply, a page or a word: nobody there knows the API.
  if not codes then return status == '404' and 'model_missing' or status == '403' and 'auth_failed' or nil end
  if is_about_safety(codes, texts) then return nil end
  for _, fault in ipairs(possible) do
    if says(codes, texts, FAULTS[fault]) then return fault end
  end
  if status == '403' then return 'auth_failed' end
  -- The gateway names the model to the provider, not the client.
  if param == 'model' and status ~= '429' and says_that_it_is_missing(texts) then return 'model_missing' end
  if status == '404' and (#texts == 0 or says(codes, texts, NO_PLACE)) then return 'model_missing' end
  return nil
end

-- Marks the reply for the route's retry policy, the sidecar and the access log. Returns the fault; nil for any other reply.
local function mark_operator_fault(handle)
  local status = handle:headers():get(':status')
  local fault = BY_STATUS[status]
  if not fault then
    local told = handle:headers():get(${luaString(firstEventHeader)})
    if told then
      -- The body is a stream, which need not end.
      if told ~= '' then fault = fault_of(status, told, OF_FIRST_EVENT) end
    else
      if not BY_WORDS[status] then return nil end
      -- Lua cannot decompress a body. The sidecar can, and tells the client.
      local encoding = handle:headers():get('content-encoding')
      if encoding and encoding ~= 'identity' then return nil end
      local body = handle:body()
      fault = fault_of(status, body and body:getBytes(0, math.min(body:length(), MOST_READ)) or '', BY_WORDS[status])
    end
  end
  if not fault then return nil end
  handle:headers():replace(${luaString(operatorFaultHeader)}, fault)
  handle:streamInfo():dynamicMetadata():set('gw', ${luaString(operatorFaultField)}, fault)
  return fault
end
`;
