/**
 * The Lua filter in the listener of a deployment. It sets the deployment's own path and beginning of the body, and marks the attempt for
 * the access log, as well as a reply about the operator's own trouble.
 *
 * Invariant: it depends on the request as the sidecar made it, never on an earlier attempt. It costs about 5 µs if there is nothing to
 * do.
 */
import {
  attemptEndpoint,
  attemptHeader,
  attemptOpening,
  attemptOpeningLength,
  attemptPathModel,
  attemptReceipt,
  attemptRest,
} from '@gw/contract/internal/attempt-headers';
import { notRepeatedHeader } from '@gw/contract/internal/first-attempt';
import { rememberAdded } from './added-fields.lua.ts';
import { luaString } from './lua-string.ts';
import { operatorFaultFunctions } from './operator-faults.lua.ts';

/** `path`: absolute, with {endpoint} and optionally {model}; null if the route rewrites the path. */
export const attemptScript = (deploymentId: string, path: string | null): string => `
local PATH = ${path === null ? 'nil' : luaString(path)}

function envoy_on_request(handle)
  local headers = handle:headers()
  if headers:get(${luaString(notRepeatedHeader)}) then
    handle:respond({ [':status'] = '503', [${luaString(notRepeatedHeader)}] = '1' }, '')
    return
  end
  local receipt = headers:get(${luaString(attemptReceipt)})
  if receipt then
    -- For the access log, from which the sidecar learns why an attempt failed.
    local metadata = handle:streamInfo():dynamicMetadata()
    metadata:set('gw', 'attempt_of', receipt)
    metadata:set('gw', 'deployment', ${luaString(deploymentId)})
  end
${rememberAdded(deploymentId)}
  local endpoint = headers:get(${luaString(attemptHeader(attemptEndpoint, deploymentId))})
  -- The route rewrites the rest.
  if endpoint and not PATH then headers:replace(':path', '/v1/' .. endpoint) end
  if PATH then
    endpoint = endpoint or headers:get(':path'):gsub('^/v1/', '')
    local model = headers:get(${luaString(attemptHeader(attemptPathModel, deploymentId))})
    if not model and PATH:find('{model}', 1, true) then
      -- The sidecar does not know this path yet. The call goes on to the next deployment.
      handle:respond({ [':status'] = '503' }, '')
      return
    end
    local filled = PATH:gsub('{(%a+)}', { endpoint = endpoint, model = model })
    headers:replace(':path', filled)
  end
  local opening = headers:get(${luaString(attemptHeader(attemptOpening, deploymentId))})
  if not opening then return end
  local rest = headers:get(${luaString(attemptHeader(attemptRest, deploymentId))})
  local replaced = headers:get(${luaString(attemptOpeningLength)})
  -- The headers are out of scope once the body was waited for.
  local body = handle:body()
  local from, length
  if rest then
    from, length = rest:match('^(%d+) (%d+)$')
    from, length = tonumber(from), tonumber(length)
  else
    from = tonumber(replaced)
    length = body:length() - from
  end
  body:setBytes(opening .. body:getBytes(from, length))
end
${operatorFaultFunctions}
function envoy_on_response(handle)
  mark_operator_fault(handle)
end
`;
