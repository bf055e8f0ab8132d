/**
 * The filter that makes a call that of one deployment, where that is not called as the first one is: its path, and the
 * beginning of its body. It runs in the listener of the deployment, and leaves there whose attempt it is.
 *
 * Invariant: it depends on the request as the sidecar made it, never on an attempt before. Cost: about 5 µs where there is nothing
 * to do.
 */
import {
  attemptHeader,
  attemptOpening,
  attemptOpeningLength,
  attemptPathModel,
  attemptReceipt,
} from '@gw/contract/internal/attempt-headers';
import { luaString } from './lua-string.ts';

/** `path`: from the root, with {endpoint} and perhaps {model}; null if the route makes it. */
export const attemptScript = (deploymentId: string, path: string | null): string => `
local PATH = ${path === null ? 'nil' : luaString(path)}

function envoy_on_request(handle)
  local headers = handle:headers()
  local receipt = headers:get(${luaString(attemptReceipt)})
  if receipt then
    -- For the access log of this listener, which tells the sidecar why an attempt failed.
    local metadata = handle:streamInfo():dynamicMetadata()
    metadata:set('gw', 'attempt_of', receipt)
    metadata:set('gw', 'deployment', ${luaString(deploymentId)})
  end
  if PATH then
    local endpoint = headers:get(':path'):gsub('^/v1/', '')
    local model = headers:get(${luaString(attemptHeader(attemptPathModel, deploymentId))})
    if not model and PATH:find('{model}', 1, true) then
      -- The sidecar does not know of this path yet; the call goes on to the next deployment.
      handle:respond({ [':status'] = '503' }, '')
      return
    end
    local filled = PATH:gsub('{(%a+)}', { endpoint = endpoint, model = model })
    headers:replace(':path', filled)
  end
  local opening = headers:get(${luaString(attemptHeader(attemptOpening, deploymentId))})
  if not opening then return end
  local replaced = tonumber(headers:get(${luaString(attemptOpeningLength)}))
  local body = handle:body()
  body:setBytes(opening .. body:getBytes(replaced, body:length() - replaced))
end
`;
