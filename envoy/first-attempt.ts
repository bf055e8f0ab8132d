/**
 * Sends a first attempt directly to its provider, through the upstream filters of its own cluster. Unlike the listener of a deployment, it
 * cannot retry after Envoy's own refusals (no credential, at capacity, unhealthy). So it is only for deployments without these, and the
 * sidecar uses it once a deployment has been reached through its listener.
 *
 * Invariant: Envoy has one set of headers for all attempts of a call. So a later attempt restores the headers of the sidecar, and removes
 * those made for the first provider, such as its credential.
 */
import {
  attemptOrderNamespace,
  firstAttemptCluster,
  firstAttemptHeader,
  firstAttemptNamespace,
  firstListenerCluster,
  laterHeaders,
  listenerCluster,
  notRepeatedHeader,
  onceMoreCluster,
  soonMs,
} from '@gw/contract/internal/first-attempt';
import { waitHeaders } from '@gw/contract/internal/retry-after';
import { cleanUpFilter, credentialFilter, luaFilter, overwriting, trustedHeaders } from './attempt-filters.ts';
import { type DeploymentPlace, internalCluster, leaf, listenerName } from './clusters.ts';
import type { DeploymentEndpoint } from './deployment-listener.ts';
import { firstEventFilter } from './first-event.ts';
import { luaString } from './lua-string.ts';
import { operatorFaultFunctions } from './operator-faults.lua.ts';
import { typed } from './typed.ts';

export const firstAttemptName = ({ baseUrl, id }: DeploymentPlace): string =>
  firstAttemptCluster(id, new URL(baseUrl).origin);

/** Headers that all attempts share, so a provider must not have its own values for them. */
const shared = /^(content-.*|accept.*|user-agent|traceparent|x-sim-.*)$/;

/**
 * Whether only a missing credential can make Envoy refuse the call, the provider's own headers differ from the shared ones, and the path
 * is not rewritten, since a rewritten path would be in the access log.
 */
export function canBeFirst({
  authHeader,
  baseUrl,
  headers,
  healthPath,
  maxConcurrentRequests,
  path,
}: FirstTarget): boolean {
  const own = [...(authHeader === null ? [] : [authHeader]), ...Object.keys(headers ?? {})];
  const isPlain = healthPath === null && maxConcurrentRequests === null && path === null;
  return isPlain && !own.some((name) => shared.test(name)) && /^\/v1\/?$/.test(new URL(baseUrl).pathname);
}

interface FirstTarget
  extends Pick<DeploymentEndpoint, 'baseUrl' | 'headers' | 'healthPath' | 'maxConcurrentRequests' | 'path'> {
  readonly authHeader: string | null;
}

/** Records a reply after which another deployment may be tried, for the later attempt. */
const failing = `
${operatorFaultFunctions}
local WAIT_HEADERS = { ${waitHeaders.map(luaString).join(', ')} }

function envoy_on_request(handle)
  local sent = handle:timestamp(EnvoyTimestampResolution.MILLISECOND)
  handle:streamInfo():dynamicMetadata():set(${luaString(firstAttemptNamespace)}, 'sent', sent)
end

function envoy_on_response(handle)
  local fault = mark_operator_fault(handle)
  local headers = handle:headers()
  local status = headers:get(':status')
  if not fault and tonumber(status) < 429 then return end
  local reply = status .. ' ' .. (fault or '-')
  for _, name in ipairs(WAIT_HEADERS) do
    local value = headers:get(name)
    if value then reply = reply .. ';' .. name .. '=' .. value end
  end
  handle:streamInfo():dynamicMetadata():set(${luaString(firstAttemptNamespace)}, 'reply', reply)
end
`;

function firstAttempt(deployment: DeploymentEndpoint): object {
  const { credential, headers, id, kind } = deployment;
  const appended = (name: string, value: string) => ({ append: overwriting(name, value) });
  const cleanUp = cleanUpFilter(kind, {
    request: Object.entries(headers ?? {}).map(([name, value]) => appended(name, value)),
    response: [...trustedHeaders.map((name) => ({ remove: name })), appended('x-gw-deployment', id)],
  });
  return leaf(deployment, firstAttemptName(deployment), [
    luaFilter(failing),
    ...(credential ? [credentialFilter(credential)] : []),
    firstEventFilter,
    cleanUp,
  ]);
}

/**
 * Undoes the header changes of a first attempt in front of the listener of a deployment. The reply reports the first attempt: its status,
 * the operator fault and when to come back, or the client's address, by which the sidecar finds the access log entry that says why there was no reply.
 */
const restoring = `
local KEPT = { ['content-type'] = true, ['content-length'] = true, accept = true, ['accept-encoding'] = true,
  ['user-agent'] = true, traceparent = true }

local function restore(handle)
  local headers = handle:headers()
  local made = {}
  for name in pairs(headers) do
    if name:sub(1, 1) ~= ':' and name:sub(1, 6) ~= 'x-sim-' and not KEPT[name] then made[#made + 1] = name end
  end
  for _, name in ipairs(made) do headers:remove(name) end
  local later = handle:streamInfo():dynamicMetadata():get('gw')[${luaString(laterHeaders)}]
  for name, value in pairs(later) do headers:replace(name, value) end
end

function envoy_on_response(handle)
  local info = handle:streamInfo()
  local first = info:dynamicMetadata():get(${luaString(firstAttemptNamespace)})
  local reply = first and first.reply or '- ' .. info:downstreamRemoteAddress()
  handle:headers():replace(${luaString(firstAttemptHeader)}, reply)
end
`;

const forAnother = `${restoring}
envoy_on_request = restore
`;

/** The provider may have worked on a call that was lost late. Then its listener answers, and the sidecar finds out how it was lost. */
const forOnceMore = `${restoring}
function envoy_on_request(handle)
  restore(handle)
  local first = handle:streamInfo():dynamicMetadata():get(${luaString(firstAttemptNamespace)})
  local now = tonumber(handle:timestamp(EnvoyTimestampResolution.MILLISECOND))
  if first and first.sent and now - tonumber(first.sent) > ${soonMs} then
    handle:headers():replace(${luaString(notRepeatedHeader)}, '1')
  end
end
`;

/** One cluster for the direct first attempts at each deployment in `first`, and for each of `all` those through its listener. */
export function attemptClusters(first: readonly DeploymentEndpoint[], all: readonly DeploymentPlace[]): object[] {
  const ids = [...new Set(all.map(({ id }) => id))];
  return [
    ...first.map(firstAttempt),
    ...ids.map((id) => internalCluster(firstListenerCluster(id), listenerName(id))),
    ...ids.map((id) => internalCluster(listenerCluster(id), listenerName(id), [luaFilter(forAnother)])),
    ...ids.map((id) => internalCluster(onceMoreCluster(id), listenerName(id), [luaFilter(forOnceMore)])),
  ];
}

/** Takes the cluster of each attempt from the sidecar's metadata. Without metadata the sink answers. */
export const orderOfAttempts = {
  inline_cluster_specifier_plugin: {
    extension: {
      name: 'envoy.router.cluster_specifier_plugin.priority_group',
      typed_config: typed(
        'envoy.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier',
        {
          priority_groups: [{ name: 'sink', clusters: [{ cluster_name: 'sink', weight: 1 }] }],
          override_metadata_namespace: attemptOrderNamespace,
        },
      ),
    },
  },
};
