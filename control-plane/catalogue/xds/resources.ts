/**
 * Envoy's dynamic configuration, made from the catalogue.
 *
 * Invariant: a version is a hash of its content, so every instance gives the same response, and secrets appear in the
 * response for secrets alone. Catalogues come newest first; of a deployment that several have, the newest one holds.
 */
import { createHash } from 'node:crypto';
import { allFailoverChains } from '@gw/contract/internal/failover-chain';
import {
  clusterResources,
  type DeploymentEndpoint,
  leafName,
  listenerResources,
  secretResources,
} from '@gw/envoy/clusters';
import type { CredentialView } from '../credentials/credentials.ts';
import type { Catalogue } from '../read.ts';

/** What Envoy gets of one type of resource. It has the meaning of DiscoveryResponse in the xDS protocol. */
export interface DiscoveryResponse {
  readonly version: string;
  readonly resources: readonly object[];
}

/** Returns the clusters: one for each fail-over chain and for each deployment that any of the catalogues names. */
export const clusterResponse = (catalogues: readonly Catalogue[], credentials: CredentialView): DiscoveryResponse =>
  responseWith(clusterResources(leaves(catalogues, credentials), ordersOf(catalogues)));

export const listenerResponse = (catalogues: readonly Catalogue[], credentials: CredentialView): DiscoveryResponse =>
  responseWith(listenerResources(endpoints(catalogues, credentials)));

/** The origin is in the name, so that a credential is bound to where it goes. */
const secretNameOf = (credentialRef: string, baseUrl: string): string => `${credentialRef}@${new URL(baseUrl).origin}`;

/** Returns only those secrets that were asked for, that a provider names and that there are. */
export function secretResponse(
  catalogues: readonly Catalogue[],
  credentials: CredentialView,
  names: readonly string[],
): DiscoveryResponse {
  const values = new Map<string, string>();
  for (const { baseUrl, credentialRef } of catalogues.flatMap(({ providers }) => providers)) {
    const value = credentialRef === null ? null : credentials.find(credentialRef, baseUrl);
    if (credentialRef !== null && value !== null) values.set(secretNameOf(credentialRef, baseUrl), value);
  }
  const secrets = [...new Set(names)].sort().flatMap((name) => {
    const value = values.get(name);
    return value === undefined ? [] : { name, value };
  });
  return responseWith(secretResources(secrets));
}

function ordersOf(catalogues: readonly Catalogue[]): string[][] {
  const chains = catalogues.flatMap(allFailoverChains).map((chain) => [chain.join('>'), chain] as const);
  return [...new Map(chains).values()];
}

function endpoints(catalogues: readonly Catalogue[], credentials: CredentialView): DeploymentEndpoint[] {
  const byId = new Map<string, DeploymentEndpoint>();
  for (const endpoint of catalogues.flatMap((each) => endpointsOf(each, credentials)))
    if (!byId.has(endpoint.id)) byId.set(endpoint.id, endpoint);
  return [...byId.values()];
}

/** Each deployment at each of the addresses that a listener can still name. */
function leaves(catalogues: readonly Catalogue[], credentials: CredentialView): DeploymentEndpoint[] {
  const byName = new Map<string, DeploymentEndpoint>();
  for (const endpoint of catalogues.flatMap((each) => endpointsOf(each, credentials)))
    byName.set(leafName(endpoint), endpoint);
  return [...byName.values()];
}

function endpointsOf(catalogue: Catalogue, credentials: CredentialView): DeploymentEndpoint[] {
  const providers = new Map(catalogue.providers.map((provider) => [provider.id, provider]));
  return catalogue.deployments.flatMap((deployment) => {
    const provider = providers.get(deployment.provider);
    if (provider === undefined) return [];
    const { kind, baseUrl, authHeader, authScheme, credentialRef } = provider;
    const credential =
      authHeader === null || credentialRef === null
        ? null
        : {
            header: authHeader,
            scheme: authScheme,
            secretName: secretNameOf(credentialRef, baseUrl),
            isMissing: credentials.find(credentialRef, baseUrl) === null,
          };
    return { id: deployment.id, baseUrl, kind, credential };
  });
}

function responseWith(resources: readonly object[]): DiscoveryResponse {
  const version = createHash('sha256').update(JSON.stringify(resources)).digest('hex').slice(0, 32);
  return { version, resources };
}
