/**
 * The way of a first attempt: to its provider at once, by the upstream filters of a cluster of its own. What the listener of a deployment
 * can do and this cannot is another try after Envoy's own refusals (no credential, at capacity, unhealthy), so it is for deployments that
 * need no such, and the sidecar takes it once a deployment has been reached by its listener.
 *
 * Invariant: Envoy has one set of headers for all attempts of a call. So an attempt behind this one gets back those that the sidecar made,
 * and none that was made for the first provider, whose credential is among them.
 */
import {
  attemptOrderNamespace,
  firstAttemptCluster,
  firstAttemptHeader,
  firstAttemptNamespace,
  laterHeaders,
  listenerCluster,
} from '@gw/contract/internal/first-attempt';
import { cleanUpFilter, credentialFilter, luaFilter, overwriting, trustedHeaders } from './attempt-filters.ts';
import { type DeploymentPlace, internalCluster, leaf, listenerName } from './clusters.ts';
import type { DeploymentEndpoint } from './deployment-listener.ts';
import { luaString } from './lua-string.ts';
import { typed } from './typed.ts';

export const firstAttemptName = ({ baseUrl, id }: DeploymentPlace): string =>
  firstAttemptCluster(id, new URL(baseUrl).origin);

/** What goes on from one attempt to the next as it is, so it must not be what one provider gets of its own. */
const goesOn = /^(content-.*|accept.*|user-agent|traceparent|x-sim-.*)$/;

/**
 * Whether nothing but a missing credential keeps Envoy from asking it, its own headers can be told from those that go on, and the path of
 * the call is the provider's too: what was made of a path would be in the access log.
 */
export function canBeFirst({ authHeader, baseUrl, headers, healthPath, maxConcurrentRequests, path }: Called): boolean {
  const own = [authHeader ?? '', ...Object.keys(headers ?? {})];
  const isPlain = healthPath === null && maxConcurrentRequests === null && path === null;
  return isPlain && !own.some((name) => goesOn.test(name)) && /^\/v1\/?$/.test(new URL(baseUrl).pathname);
}

interface Called
  extends Pick<DeploymentEndpoint, 'baseUrl' | 'headers' | 'healthPath' | 'maxConcurrentRequests' | 'path'> {
  readonly authHeader: string | null;
}

/** A reply after which another deployment may be tried leaves word for the attempt behind it. */
const failing = `
function envoy_on_response(handle)
  local headers = handle:headers()
  local status = headers:get(':status')
  if tonumber(status) < 429 then return end
  local metadata = handle:streamInfo():dynamicMetadata()
  metadata:set(${luaString(firstAttemptNamespace)}, 'reply', status .. ' ' .. (headers:get('retry-after') or ''))
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
    cleanUp,
  ]);
}

/**
 * In front of the listener of a deployment: what a first attempt has made of the headers is undone. The reply says what became of that one:
 * its status and `Retry-After`, or the client's address, by which the sidecar finds the entry of the log that says why there was none.
 */
const restoring = `
local KEPT = { ['content-type'] = true, ['content-length'] = true, accept = true, ['accept-encoding'] = true,
  ['user-agent'] = true, traceparent = true }

function envoy_on_request(handle)
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

/** One cluster for the first attempts at each deployment that allows it, and one for the later attempts at any. */
export function attemptClusters(first: readonly DeploymentEndpoint[], all: readonly DeploymentPlace[]): object[] {
  const ids = [...new Set(all.map(({ id }) => id))];
  return [
    ...first.map(firstAttempt),
    ...ids.map((id) => internalCluster(listenerCluster(id), [listenerName(id)], [luaFilter(restoring)])),
  ];
}

/** Takes the cluster of each attempt from what the sidecar has named, and none if it has named nothing. */
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
